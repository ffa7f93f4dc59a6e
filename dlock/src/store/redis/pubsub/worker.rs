//! Who does a node's jobs.

use std::sync::Arc;
use std::time::Duration;

use super::hearing::PubSub;
use super::jobs::Jobs;
use super::subscriber::Subscriber;
use crate::backoff::Backoff;
use crate::clock::sleep;
use crate::store::redis::node::Node;

/// How often a quiet connection is tried.
const PING_AFTER: Duration = Duration::from_secs(5);

/// How many tries a connection without channels is kept for.
const PINGS_WITHOUT_USE: u32 = 6;

/// How many jobs are under way at once.
const AT_ONCE: usize = 256;

/// The jobs of one node, until dropped, with a runtime perhaps.
pub(super) struct Worker {
    pubsub: Arc<PubSub>,
    node: Arc<Node>,
    jobs: Arc<Jobs>,
}

impl Worker {
    pub(super) fn new(pubsub: &Arc<PubSub>, node: &Arc<Node>, jobs: &Arc<Jobs>) -> Self {
        Self {
            pubsub: Arc::clone(pubsub),
            node: Arc::clone(node),
            jobs: Arc::clone(jobs),
        }
    }

    /// Connects when there is something to do, does it, and starts over when the connection ends.
    pub(super) async fn run(self) {
        let mut backoff = Backoff::of_connect();
        while self.jobs.any().await {
            if let Some(subscriber) = Subscriber::open(&self.pubsub, &self.node).await {
                if serve(&self.jobs, subscriber).await {
                    backoff = Backoff::of_connect();
                    continue;
                }
            } else {
                self.pubsub.env.refresh.request();
            }
            sleep(backoff.pause()).await;
            // The keeper will ask again, perhaps another node.
            for name in self.jobs.drain() {
                self.pubsub.failed(&name);
            }
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // Whoever wants something of this node has to find another worker.
        self.jobs.close();
        for name in self.jobs.drain() {
            // Its waiters look by themselves: a task wakes waiters, and a worker may be dropped while a task is being started.
            let _relied = self.pubsub.channels.fail(&name);
        }
        self.pubsub.nudge.notify_one();
    }
}

/// Until the connection ends or the node has left; whether the connection was of use.
async fn serve(jobs: &Jobs, mut subscriber: Subscriber) -> bool {
    let (mut unused, mut of_use) = (0, false);
    loop {
        let alive = tokio::select! {
            biased;
            () = subscriber.ended() => return of_use,
            open = jobs.any() => {
                let done = open && subscriber.carry_out(jobs.take(AT_ONCE)).await;
                of_use |= done;
                done
            }
            () = sleep(PING_AFTER) => {
                unused = if subscriber.is_used() { 0 } else { unused + 1 };
                unused < PINGS_WITHOUT_USE && subscriber.ping().await
            }
        };
        if !alive {
            return of_use;
        }
    }
}
