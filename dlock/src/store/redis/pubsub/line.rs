//! The pub/sub connection to one node, and what it is to do.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::sleep;

use super::PubSub;
use super::channel::Name;
use super::link::Link;
use crate::store::redis::backoff::Backoff;
use crate::store::redis::node::Node;

/// How often a quiet connection is tried.
const PING_AFTER: Duration = Duration::from_secs(5);

/// How many tries a connection without channels is kept for.
const PINGS_WITHOUT_USE: u32 = 6;

/// The jobs of one node's connection, done one after the other.
#[derive(Default)]
pub(super) struct Line {
    jobs: Mutex<Jobs>,
    more: Notify,
}

#[derive(Default)]
struct Jobs {
    waiting: VecDeque<Job>,
    closed: bool,
}

/// Something to do on the connection.
pub(super) enum Job {
    Subscribe(Name),
    /// If the link with this number is still there.
    Unsubscribe(Name, u64),
}

impl Line {
    pub(super) fn push(&self, job: Job) {
        self.lock().waiting.push_back(job);
        self.more.notify_one();
    }

    /// Ends the line's task: its node has left.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.more.notify_one();
    }

    /// The next job; `None` when the line is closed.
    async fn next(&self) -> Option<Job> {
        loop {
            {
                let mut jobs = self.lock();
                if jobs.closed {
                    return None;
                }
                if let Some(job) = jobs.waiting.pop_front() {
                    return Some(job);
                }
            }
            self.more.notified().await;
        }
    }

    /// Puts a job back that could not be begun.
    fn put_back(&self, job: Job) {
        self.lock().waiting.push_front(job);
        self.more.notify_one();
    }

    fn drain(&self) -> VecDeque<Job> {
        std::mem::take(&mut self.lock().waiting)
    }

    fn lock(&self) -> MutexGuard<'_, Jobs> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Connects when there is something to do, does it, and starts over when the connection ends.
pub(super) async fn run(pubsub: Arc<PubSub>, node: Arc<Node>, line: Arc<Line>) {
    let mut backoff = Backoff::of_connect();
    while let Some(job) = line.next().await {
        line.put_back(job);
        if let Ok(connected) = Link::open(&pubsub, &node).await {
            backoff = Backoff::of_connect();
            serve(&line, connected).await;
        } else {
            pubsub.env.refresh.request();
            sleep(backoff.pause()).await;
            // The keeper will ask again, perhaps another node.
            fail_all(&pubsub, &line);
        }
    }
    fail_all(&pubsub, &line);
}

fn fail_all(pubsub: &PubSub, line: &Line) {
    for job in line.drain() {
        if let Job::Subscribe(name) = job {
            pubsub.channels.fail(&name);
        }
    }
}

/// Until the connection ends or the line is closed.
async fn serve(line: &Line, mut connected: Link) {
    let mut unused = 0;
    loop {
        let alive = tokio::select! {
            biased;
            () = connected.ended() => return,
            job = line.next() => match job {
                Some(job) => connected.carry_out(job).await,
                None => return,
            },
            () = sleep(PING_AFTER) => {
                unused = if connected.is_used() { 0 } else { unused + 1 };
                unused < PINGS_WITHOUT_USE && connected.ping().await
            }
        };
        if !alive {
            return;
        }
    }
}
