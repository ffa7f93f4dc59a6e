//! What the pub/sub connection to one node is to do.

use std::collections::VecDeque;

use parking_lot::Mutex;
use tokio::sync::Notify;

use super::channel::Name;

/// The jobs of one node's connection, done one after the other.
#[derive(Default)]
pub(super) struct Jobs {
    queue: Mutex<Queue>,
    more: Notify,
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<Job>,
    closed: bool,
}

/// Something to do on the connection.
pub(super) enum Job {
    Subscribe(Name),
    /// If the connection with this number is still there.
    Unsubscribe(Name, u64),
}

impl Jobs {
    /// Gives the job back if nobody will do it.
    pub(super) fn push(&self, job: Job) -> Result<(), Job> {
        let mut queue = self.queue.lock();
        if queue.closed {
            return Err(job);
        }
        queue.waiting.push_back(job);
        drop(queue);
        self.more.notify_one();
        Ok(())
    }

    pub(super) fn is_closed(&self) -> bool {
        self.queue.lock().closed
    }

    /// Ends the worker: its node has left, or its runtime.
    pub(super) fn close(&self) {
        self.queue.lock().closed = true;
        self.more.notify_one();
    }

    /// Waits until there are jobs; `false` when there will be no more.
    pub(super) async fn any(&self) -> bool {
        loop {
            {
                let queue = self.queue.lock();
                if queue.closed || !queue.waiting.is_empty() {
                    return !queue.closed;
                }
            }
            self.more.notified().await;
        }
    }

    /// The next jobs, so many at most.
    pub(super) fn take(&self, most: usize) -> Vec<Job> {
        let mut queue = self.queue.lock();
        let count = queue.waiting.len().min(most);
        queue.waiting.drain(..count).collect()
    }

    /// Takes all jobs away; the channels that were to be subscribed.
    pub(super) fn drain(&self) -> impl Iterator<Item = Name> + use<> {
        let jobs = std::mem::take(&mut self.queue.lock().waiting);
        jobs.into_iter().filter_map(|job| match job {
            Job::Subscribe(name) => Some(name),
            Job::Unsubscribe(..) => None,
        })
    }
}
