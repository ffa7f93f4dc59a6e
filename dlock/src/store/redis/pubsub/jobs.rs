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

    /// The next job; `None` when there will be no more.
    pub(super) async fn next(&self) -> Option<Job> {
        loop {
            {
                let mut queue = self.queue.lock();
                if queue.closed {
                    return None;
                }
                if let Some(job) = queue.waiting.pop_front() {
                    return Some(job);
                }
            }
            self.more.notified().await;
        }
    }

    /// Puts a job back that could not be begun.
    pub(super) fn put_back(&self, job: Job) {
        self.queue.lock().waiting.push_front(job);
        self.more.notify_one();
    }

    pub(super) fn drain(&self) -> VecDeque<Job> {
        std::mem::take(&mut self.queue.lock().waiting)
    }
}
