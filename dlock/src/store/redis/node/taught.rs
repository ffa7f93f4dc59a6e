//! Which scripts a connection has carried.

use std::sync::atomic::{AtomicU8, Ordering};

use crate::store::redis::wire::Script;

/// The scripts whose texts this connection has carried. A script goes as its text once, and by its name after that: a
/// server that is sent only what it needs has less to keep in its cache. It may have forgotten one since, and says so.
#[derive(Debug, Default)]
pub(crate) struct Taught(AtomicU8);

impl Taught {
    /// Notes that the text goes now; whether that is the first time.
    pub(crate) fn is_new(&self, script: Script) -> bool {
        let bit = bit(script);
        self.0.load(Ordering::Relaxed) & bit == 0
            && self.0.fetch_or(bit, Ordering::Relaxed) & bit == 0
    }

    /// The server does not know it.
    pub(crate) fn forget(&self, script: Script) {
        self.0.fetch_and(!bit(script), Ordering::Relaxed);
    }

    /// Another connection, perhaps to another server.
    pub(super) fn forget_all(&self) {
        self.0.store(0, Ordering::Relaxed);
    }
}

fn bit(script: Script) -> u8 {
    1 << script as u8
}
