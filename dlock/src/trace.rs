//! What traces show: spans and events with rendered keys, which metrics must not have. A side room
//! as `metrics` is; empty without the feature `tracing`.

#[cfg(not(feature = "tracing"))]
pub(crate) use self::off::{AcquireTrace, Entered, HeldTrace, lost, unheard};
#[cfg(feature = "tracing")]
pub(crate) use self::on::{AcquireTrace, Entered, HeldTrace, lost, unheard};

/// With the feature, spans and events go through `tracing`, under the target `dlock`.
#[cfg(feature = "tracing")]
mod on {
    use tracing::instrument::Instrumented;
    pub(crate) use tracing::span::Entered;
    use tracing::{Instrument, Span, debug, debug_span, info_span, warn};

    use crate::clock::BootInstant;
    use crate::error::{Error, LossReason};
    use crate::key::LockKey;
    use crate::kind::LockMode;
    use crate::token::FencingToken;

    /// The span `acquire`: from the call to its end.
    pub(crate) struct AcquireTrace {
        span: Span,
        /// Set while a subscriber records spans.
        began: Option<BootInstant>,
    }

    /// The span `held`: from the grant to the release. At the level of what people read all the time, as the lines that are
    /// written under a lock shall tell its key and token.
    pub(crate) struct HeldTrace {
        span: Span,
    }

    impl HeldTrace {
        /// What this thread does is done under the lock.
        pub(crate) fn enter(&self) -> Entered<'_> {
            self.span.enter()
        }
    }

    impl AcquireTrace {
        pub(crate) fn new(key: &LockKey, mode: LockMode) -> Self {
            let span = debug_span!(target: "dlock", "acquire", kind = key.kind().as_str(), key = key.name(), mode = mode.as_str());
            let began = (!span.is_disabled()).then(BootInstant::now);
            Self { span, began }
        }

        /// Runs the acquire inside its span. No `async fn`: that would keep the acquire twice.
        pub(crate) fn follow<F: Future>(&self, acquire: F) -> Instrumented<F> {
            acquire.instrument(self.span.clone())
        }

        pub(crate) fn held(&self, key: &LockKey, mode: LockMode, token: FencingToken) -> HeldTrace {
            let (kind, token) = (key.kind().as_str(), shown(key, token));
            let (key, mode) = (key.name(), mode.as_str());
            if let Some(began) = self.began {
                let wait = BootInstant::now().since(began);
                debug!(target: "dlock", parent: &self.span, kind, key, mode, token, ?wait, "held");
            }
            HeldTrace {
                span: info_span!(target: "dlock", "held", kind, key, mode, token),
            }
        }

        pub(crate) fn busy(&self) {
            debug!(target: "dlock", parent: &self.span, "busy");
        }

        pub(crate) fn failed(&self, error: &Error) {
            debug!(target: "dlock", parent: &self.span, %error, "failed");
        }
    }

    /// The token, if holders of this kind of lock have one.
    fn shown(key: &LockKey, token: FencingToken) -> Option<u64> {
        key.kind().has_tokens().then(|| token.as_u64())
    }

    /// A hold ended before it was released.
    pub(crate) fn lost(key: &LockKey, mode: LockMode, token: FencingToken, reason: LossReason) {
        let (kind, token) = (key.kind().as_str(), shown(key, token));
        let (key, mode) = (key.name(), mode.as_str());
        warn!(target: "dlock", kind, key, mode, token, reason = reason.as_str(), "lost");
    }

    /// A user lacks the rights to messages that the servers have.
    pub(crate) fn unheard(user: &str) {
        warn!(
            target: "dlock",
            user,
            "this user may not use sharded channels (SPUBLISH, SSUBSCRIBE), so waiters find out by looking, up to a second \
             late; grant what SECURITY.md says"
        );
    }
}

/// Without the feature, the calls do nothing.
#[cfg(not(feature = "tracing"))]
mod off {
    use std::marker::PhantomData;

    use crate::error::{Error, LossReason};
    use crate::key::LockKey;
    use crate::kind::LockMode;
    use crate::token::FencingToken;

    pub(crate) struct AcquireTrace;

    pub(crate) struct HeldTrace;

    pub(crate) struct Entered<'a>(PhantomData<&'a HeldTrace>);

    impl HeldTrace {
        pub(crate) fn enter(&self) -> Entered<'_> {
            Entered(PhantomData)
        }
    }

    #[expect(clippy::unused_self, reason = "the same calls as with tracing")]
    impl AcquireTrace {
        pub(crate) fn new(_: &LockKey, _: LockMode) -> Self {
            Self
        }

        pub(crate) fn follow<F: Future>(&self, acquire: F) -> F {
            acquire
        }

        pub(crate) fn held(&self, _: &LockKey, _: LockMode, _: FencingToken) -> HeldTrace {
            HeldTrace
        }

        pub(crate) fn busy(&self) {}

        pub(crate) fn failed(&self, _: &Error) {}
    }

    pub(crate) fn lost(_: &LockKey, _: LockMode, _: FencingToken, _: LossReason) {}

    pub(crate) fn unheard(_: &str) {}
}
