//! Where background tasks start: nothing else spawns, so that a test can replace it here.

#[cfg(all(dlock_sim, feature = "tls"))]
pub(crate) use crate::sim::run_blocking;
#[cfg(dlock_sim)]
pub(crate) use crate::sim::{
    AbortHandle, JoinSet, Place, Whereabouts, spawn, start, wait_at_most, whereabouts,
};
#[cfg(not(dlock_sim))]
pub(crate) use tokio::task::{AbortHandle, JoinSet};

#[cfg(all(not(dlock_sim), feature = "tls"))]
pub(crate) use self::tokio_tasks::run_blocking;
#[cfg(not(dlock_sim))]
pub(crate) use self::tokio_tasks::{Place, Whereabouts, spawn, start, wait_at_most, whereabouts};

#[cfg(not(dlock_sim))]
mod tokio_tasks {
    use std::io;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;

    use tokio::runtime::Handle;

    use super::{AbortHandle, JoinSet};
    use crate::background;

    /// Makes sure that there is a place for tasks everywhere. Before anything else is called.
    pub(crate) fn start() -> io::Result<()> {
        background::start().map(drop)
    }

    /// Starts a detached task on the runtime of this thread.
    pub(crate) fn spawn(task: impl Future<Output = ()> + Send + 'static) -> AbortHandle {
        background::within(|| tokio::spawn(task)).abort_handle()
    }

    /// Runs on a thread of our own what may take its time; `None` if that cannot be had.
    #[cfg(feature = "tls")]
    pub(crate) async fn run_blocking<T: Send + 'static>(
        run: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        // Not one of the user's, of which there may be few, all waiting for us.
        let own = background::start().ok()?;
        own.spawn_blocking(run).await.ok()
    }

    /// Waits on this thread, for so long at most.
    pub(crate) fn wait_at_most<F: Future>(length: Duration, future: F) -> Option<F::Output> {
        background::block_on(async { tokio::time::timeout(length, future).await.ok() })
    }

    /// What kind of thread this is.
    #[derive(Debug)]
    pub(crate) enum Whereabouts {
        /// Our own.
        Own,
        /// A thread of a user's runtime, or lent by it for blocking work.
        User(Place),
        /// A thread of no runtime.
        Nowhere,
        /// One that is ending, and cannot wait.
        Ending,
    }

    pub(crate) fn whereabouts() -> Whereabouts {
        if background::is_here() {
            return Whereabouts::Own;
        }
        match Handle::try_current().map(Place) {
            Ok(place) if !place.is_own() => Whereabouts::User(place),
            Err(error) if error.is_thread_local_destroyed() => Whereabouts::Ending,
            // A thread that waits has our own, for its timers.
            _ => Whereabouts::Nowhere,
        }
    }

    /// A runtime to start tasks on.
    #[derive(Debug, Clone)]
    pub(crate) struct Place(Handle);

    impl Place {
        /// The runtime of this thread, or our own where it has none.
        pub(crate) fn here() -> Self {
            Self(background::within(Handle::current))
        }

        /// Our own, which never ends.
        pub(crate) fn own() -> Self {
            background::own().map_or_else(Self::here, |own| Self(own.clone()))
        }

        pub(crate) fn is_own(&self) -> bool {
            background::own().is_some_and(|own| own.id() == self.0.id())
        }

        /// Whether both are the same.
        pub(crate) fn is(&self, other: &Self) -> bool {
            self.0.id() == other.0.id()
        }

        /// Whether tasks can start there. They may not get to run, if the runtime is not driven now.
        pub(crate) fn is_running(&self) -> bool {
            // A runtime that has ended drops what it is given at once, without a look at it.
            let refused = Arc::new(AtomicBool::new(false));
            let probe = Probe {
                refused: Arc::clone(&refused),
                ran: false,
            };
            self.0.spawn(async move { probe.run() });
            !refused.load(Ordering::Acquire)
        }

        /// Starts a task there.
        pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) -> AbortHandle {
            self.0.spawn(task).abort_handle()
        }

        /// Starts a task of a set there.
        pub(crate) fn spawn_into<T: Send + 'static>(
            &self,
            set: &mut JoinSet<T>,
            task: impl Future<Output = T> + Send + 'static,
        ) -> AbortHandle {
            set.spawn_on(task, &self.0)
        }
    }

    /// Tells when it is dropped without having run.
    struct Probe {
        refused: Arc<AtomicBool>,
        ran: bool,
    }

    impl Probe {
        fn run(mut self) {
            self.ran = true;
        }
    }

    impl Drop for Probe {
        fn drop(&mut self) {
            if !self.ran {
                self.refused.store(true, Ordering::Release);
            }
        }
    }
}
