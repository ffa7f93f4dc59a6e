//! The names of the arguments.

use crate::suggest;

macro_rules! names {
    ($($variant:ident $text:literal $example:literal,)*) => {
        /// An argument that the attribute knows.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Name {
            $($variant,)*
        }

        impl Name {
            const ALL: &[Self] = &[$(Self::$variant,)*];

            /// As written in the attribute.
            pub(crate) fn text(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)*
                }
            }

            /// How to write the argument.
            pub(crate) fn example(self) -> &'static str {
                match self {
                    $(Self::$variant => $example,)*
                }
            }
        }
    };
}

names! {
    Key "key" "key = \"order:{order_id}\"",
    Keys "keys" "keys = [\"account:{from}\", \"account:{to}\"]",
    Mode "mode" "mode = \"write\"",
    Lock "lock" "lock = \"mutex\"",
    Lease "lease" "lease = \"30s\"",
    MaxHold "max_hold" "max_hold = \"5m\"",
    MinHold "min_hold" "min_hold = \"10s\"",
    Linger "linger" "linger = \"500ms\"",
    Wait "wait" "wait = \"5s\"",
    OnLost "on_lost" "on_lost = \"cancel\"",
    OnBusy "on_busy" "on_busy = Ok(())",
    When "when" "when = order.shared",
    Guard "guard" "guard = lock",
    Client "client" "client = self.locks",
    Label "label" "label = \"ship\"",
    Crate "crate" "crate = my_crate::dlock",
}

impl Name {
    /// The argument called `text`.
    pub(crate) fn find(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|name| name.text() == text)
    }

    /// What to say about an argument that does not exist.
    pub(crate) fn unknown(text: &str) -> String {
        if let Some(elsewhere) = elsewhere(text) {
            return format!("unknown argument `{text}`; {elsewhere}");
        }
        let meant = match text {
            "timeout" | "acquire_timeout" | "wait_timeout" => Some(Self::Wait),
            "ttl" | "expire" | "expiry" | "lease_time" | "duration" => Some(Self::Lease),
            "resource" | "id" => Some(Self::Key),
            "locks" | "resources" | "ids" => Some(Self::Keys),
            "kind" | "type" | "lock_type" | "mutex" | "fenced" | "fenced_mutex" => Some(Self::Lock),
            "name" | "metric" | "metric_name" => Some(Self::Label),
            "redis" | "pool" | "connection" | "manager" => Some(Self::Client),
            _ => suggest::closest(text, Self::ALL.iter().map(|name| name.text()))
                .and_then(Self::find),
        };
        match meant {
            Some(meant) => format!(
                "unknown argument `{text}`; did you mean `{}`, as in `{}`?",
                meant.text(),
                meant.example()
            ),
            None => format!(
                "unknown argument `{text}`; the arguments are {}",
                Self::list()
            ),
        }
    }

    fn list() -> String {
        let names: Vec<String> = Self::ALL
            .iter()
            .map(|name| format!("`{}`", name.text()))
            .collect();
        names.join(", ")
    }
}

/// Where that is set which is no argument.
fn elsewhere(text: &str) -> Option<&'static str> {
    match text {
        "owner" => Some(
            "a call enters again what its own task holds; other owners, which a mutex has not, are named where the lock is \
             made: `client.rw_lock(..)?.owner(..)`",
        ),
        "prefix" | "namespace" => Some(
            "it is the client's: `Client::builder().prefix(..)`; `key` is what comes behind it",
        ),
        "retry_for" | "response_timeout" | "url" => {
            Some("it is the client's: `Client::builder()` has a setter of that name")
        }
        _ => None,
    }
}
