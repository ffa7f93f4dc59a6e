//! Messages to the user while a command runs.

use dlock::{FencingToken, LockInfo, LockKind};
use serde_json::{Value, json};

use super::teller::Teller;
use crate::hidden::plain;
use crate::{json as locks, who};

/// Tells what happens, on stderr: everything as JSON; as text only trouble, and that it waits.
#[derive(Debug)]
pub(super) struct Events {
    teller: Teller,
    key: String,
    kind: LockKind,
    json: bool,
    quiet: bool,
}

impl Events {
    pub(super) fn new(key: &str, kind: LockKind, json: bool, quiet: bool) -> Self {
        Self {
            teller: Teller::start(),
            key: key.to_owned(),
            kind,
            json,
            quiet,
        }
    }

    pub(super) fn waiting(&self, info: &LockInfo) {
        if self.quiet {
            return;
        }
        if self.json {
            let lock = locks::lock(&self.key, self.kind, info);
            self.print(
                "waiting",
                &json!({"holders": lock["holders"], "waiting": info.waiter_count()}),
            );
        } else {
            let (state, by) = (who::state(info, self.kind.is_mutex()), who::held_by(info));
            let known = who::longest(info).is_some_and(|hold| hold.held_for.is_some());
            let time = if known {
                format!(" for {}", who::held_for(info))
            } else {
                String::new()
            };
            self.say(&format!("waiting; {state} by {by}{time}"));
        }
    }

    pub(super) fn held(&self, token: Option<FencingToken>, waited_ms: u64) {
        if self.json {
            self.print(
                "held",
                &json!({"token": token.map(locks::token), "waited_ms": waited_ms}),
            );
        }
    }

    pub(super) fn lost(&self) {
        self.trouble(
            "lost",
            "the lease was lost or cannot be renewed; stopping the command",
        );
    }

    pub(super) fn time_is_up(&self) {
        self.trouble(
            "max_hold",
            "--max-hold is nearly over; stopping the command",
        );
    }

    pub(super) fn killed(&self) {
        self.trouble("killed", "the command did not end in time and was killed");
    }

    pub(super) fn release_failed(&self, error: &dlock::Error) {
        self.trouble("release_failed", &error.to_string());
    }

    pub(super) fn ended(&self, exit: u8) {
        if self.json {
            self.print("ended", &json!({"exit": exit}));
        }
    }

    fn trouble(&self, event: &str, message: &str) {
        if self.json {
            self.print(event, &json!({"message": message}));
        } else {
            self.say(message);
        }
    }

    fn say(&self, message: &str) {
        let line = format!("dlock: {}: {}", plain(&self.key), plain(message));
        self.teller.tell(line);
    }

    fn print(&self, event: &str, more: &Value) {
        let mut line = json!({"event": event, "key": self.key});
        if let (Some(line), Some(more)) = (line.as_object_mut(), more.as_object()) {
            line.extend(more.clone());
        }
        self.teller.tell(line.to_string());
    }
}
