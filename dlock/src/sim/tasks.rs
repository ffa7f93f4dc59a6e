//! Tasks, as Tokio has them.

use std::time::Duration;
use std::{fmt, io};

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::{Task, world};

/// Ends a task.
#[derive(Debug, Clone, Copy)]
pub struct AbortHandle(Option<u64>);

/// A task of a set did not come to its end.
#[derive(Debug, Clone, Copy)]
pub struct JoinError;

impl AbortHandle {
    /// Drops the task at its next turn.
    pub fn abort(&self) {
        if let (Some(task), Some(world)) = (self.0, world()) {
            world.abort(task);
        }
    }
}

/// Starts a task of the simulated process that runs now.
pub fn spawn(task: impl Future<Output = ()> + Send + 'static) -> AbortHandle {
    let task: Task = Box::pin(task);
    AbortHandle(world().map(|world| world.spawn(task)))
}

/// There is nothing to start.
///
/// # Errors
///
/// None.
pub fn start() -> io::Result<()> {
    Ok(())
}

/// Nothing takes time but the network.
#[cfg(feature = "tls")]
pub async fn run_blocking<T>(run: impl FnOnce() -> T) -> Option<T> {
    Some(run())
}

/// Nothing waits outside of tasks.
pub fn wait_at_most<F: Future>(_: Duration, _: F) -> Option<F::Output> {
    None
}

/// Whose thread this is.
#[derive(Debug)]
pub enum Whereabouts {
    /// The simulation's.
    Own,
    /// There is none.
    User(Place),
    /// There is none.
    Nowhere,
    /// It never does.
    Ending,
}

/// The simulation's.
#[must_use]
pub fn whereabouts() -> Whereabouts {
    Whereabouts::Own
}

/// Where tasks start: there is but one place in a simulated process, and it does not end before the process.
#[derive(Debug, Clone, Copy)]
pub struct Place;

impl Place {
    /// Here.
    #[must_use]
    pub fn here() -> Self {
        Self
    }

    /// Here, too.
    #[must_use]
    pub fn own() -> Self {
        Self
    }

    /// Always.
    #[must_use]
    pub fn is_own(&self) -> bool {
        true
    }

    /// Always.
    #[must_use]
    pub fn is(&self, _: &Self) -> bool {
        true
    }

    /// Always.
    #[must_use]
    pub fn is_running(&self) -> bool {
        true
    }

    /// Starts a task.
    pub fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) -> AbortHandle {
        spawn(task)
    }

    /// Starts a task of a set.
    pub fn spawn_into<T: Send + 'static>(
        &self,
        set: &mut JoinSet<T>,
        task: impl Future<Output = T> + Send + 'static,
    ) -> AbortHandle {
        set.spawn(task)
    }
}

/// Tasks that end with this value.
pub struct JoinSet<T> {
    started: Vec<AbortHandle>,
    joined: usize,
    done: UnboundedReceiver<T>,
    sender: UnboundedSender<T>,
}

impl<T: Send + 'static> JoinSet<T> {
    /// An empty one.
    #[must_use]
    pub fn new() -> Self {
        let (sender, done) = unbounded_channel();
        Self {
            started: Vec::new(),
            joined: 0,
            done,
            sender,
        }
    }

    /// Starts a task.
    pub fn spawn(&mut self, task: impl Future<Output = T> + Send + 'static) -> AbortHandle {
        let sender = self.sender.clone();
        let handle = spawn(async move {
            // Without a set, no task waits for the result.
            drop(sender.send(task.await));
        });
        self.started.push(handle);
        handle
    }

    /// What a task has come to, if one has ended.
    pub fn try_join_next(&mut self) -> Option<Result<T, JoinError>> {
        let output = self.done.try_recv().ok()?;
        self.joined += 1;
        Some(Ok(output))
    }

    /// What the next task comes to; `None` if there is none.
    pub async fn join_next(&mut self) -> Option<Result<T, JoinError>> {
        if self.len() == 0 {
            return None;
        }
        let output = self.done.recv().await?;
        self.joined += 1;
        Some(Ok(output))
    }
}

impl<T> JoinSet<T> {
    /// How many have not been joined.
    #[must_use]
    pub fn len(&self) -> usize {
        self.started.len() - self.joined
    }

    /// Whether all have been joined.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<T: Send + 'static> Default for JoinSet<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Drop for JoinSet<T> {
    fn drop(&mut self) {
        for task in &self.started {
            task.abort();
        }
    }
}

impl<T> fmt::Debug for JoinSet<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinSet").finish_non_exhaustive()
    }
}
