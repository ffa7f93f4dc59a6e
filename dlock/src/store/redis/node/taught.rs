//! Which scripts a node has been sent.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::clock::BootInstant;
use crate::store::redis::wire::Script;

/// When the text of each script went to the node over its connection, in ns of the boot clock; 0 if it did not. A script
/// goes as its text once, and by its name after that: a server that is sent only what it needs has less to keep in its
/// cache. That it was sent does not mean that it is known, and a server may forget it: then it says so.
#[derive(Debug, Default)]
pub(crate) struct Taught([AtomicU64; Script::ALL.len()]);

impl Taught {
    /// Notes that the text goes now; whether that is the first time.
    pub(crate) fn is_new(&self, script: Script, now: BootInstant) -> bool {
        let sent = &self.0[script as usize];
        let (order, now) = (Ordering::Relaxed, now.as_nanos().max(1));
        sent.load(order) == 0 && sent.compare_exchange(0, now, order, order).is_ok()
    }

    /// The node does not know the script by its name, as a request says that left at `asked`. A text that has left since
    /// may have taught it: of many requests that are refused together, one sends the text.
    pub(crate) fn forget(&self, script: Script, asked: BootInstant) {
        let sent = &self.0[script as usize];
        let (order, seen) = (Ordering::Relaxed, sent.load(Ordering::Relaxed));
        if seen <= asked.as_nanos() {
            // Whoever was quicker has forgotten it, or sends it.
            let _ = sent.compare_exchange(seen, 0, order, order);
        }
    }

    /// Another connection, perhaps to another server.
    pub(super) fn forget_all(&self) {
        for sent in &self.0 {
            sent.store(0, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Taught;
    use crate::clock::BootInstant;
    use crate::store::redis::wire::Script;

    #[test]
    fn of_many_requests_that_a_forgetful_server_refuses_one_sends_the_text() {
        let at = BootInstant::from_nanos;
        let (taught, script) = (Taught::default(), Script::Renew);
        assert!(taught.is_new(script, at(1)));
        assert!(!taught.is_new(script, at(2)), "it is on its way");
        assert!(taught.is_new(Script::Release, at(2)), "another script");
        for (asked, again) in [(3, 10), (4, 11), (5, 12)] {
            taught.forget(script, at(asked));
            assert_eq!(taught.is_new(script, at(again)), asked == 3, "{asked}");
        }
        taught.forget(script, at(13));
        assert!(taught.is_new(script, at(14)), "refused after the text");
        taught.forget_all();
        assert!(taught.is_new(Script::Release, at(15)));
    }
}
