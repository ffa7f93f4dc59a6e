//! The background tasks of one store.

use std::fmt;
use std::future::Future;

use parking_lot::Mutex;

use crate::tasks::{AbortHandle, JoinSet, Place};

/// Tasks that end together, at the latest with this value.
pub(crate) struct Tasks(Mutex<Option<JoinSet<()>>>);

impl Tasks {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(Some(JoinSet::new())))
    }

    /// Starts a task there; `None` once closed.
    pub(crate) fn spawn(
        &self,
        place: &Place,
        task: impl Future<Output = ()> + Send + 'static,
    ) -> Option<AbortHandle> {
        let mut set = self.0.lock();
        let set = set.as_mut()?;
        while set.try_join_next().is_some() {}
        Some(place.spawn_into(set, task))
    }

    /// Ends all tasks; no new ones start.
    pub(crate) fn close(&self) {
        let set = self.0.lock().take();
        // Outside of the lock: a task's own values are dropped here.
        drop(set);
    }
}

impl fmt::Debug for Tasks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let running = self.0.lock().as_ref().map(JoinSet::len);
        f.debug_struct("Tasks").field("running", &running).finish()
    }
}
