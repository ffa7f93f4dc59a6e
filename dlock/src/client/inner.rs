//! What all clones of a client share.

use std::fmt;
use std::sync::Arc;

use super::config::Config;
use super::home::Home;
use crate::lock::Commons;
use crate::protocol::ClientId;
use crate::store::Store;

pub(super) struct Inner {
    pub(super) config: Config,
    pub(super) id: ClientId,
    pub(super) home: Home,
    pub(super) locks: Arc<Commons>,
}

impl Inner {
    /// Starts the background tasks.
    pub(super) fn start(config: Config, id: ClientId, store: Store) -> Self {
        let locks = Commons::start(id.clone(), store, config.timeouts);
        Self {
            config,
            id,
            home: Home::current(),
            locks,
        }
    }
}

impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inner")
            .field("id", &self.id.as_str())
            .field("store", &self.locks.store)
            .finish_non_exhaustive()
    }
}
