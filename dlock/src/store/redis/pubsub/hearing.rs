//! The pub/sub side of a store; waking waiters that may have missed a message.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::Notify;

use super::channels::Channels;
use super::channels::Name;
use super::listening::Listening;
use super::worker::keep;
use super::worker::{Job, Jobs, Worker};
use crate::clock::{Instant, sleep, timeout_at};
use crate::key::LockKey;
use crate::protocol::HoldId;
use crate::random::{HashMap, HashSet};
use crate::slot::Slot;
use crate::store::Wakeups;
use crate::store::redis::env::Env;
use crate::store::redis::node::{Node, NodeId};
use crate::store::redis::topology::Servers;
use crate::store::redis::wire::PublishMode;
use crate::tasks::Place;

/// Channels, their listeners, and the connections on which messages come.
pub(crate) struct PubSub {
    pub(super) env: Arc<Env>,
    servers: Arc<Servers>,
    /// The client's only channel: in a cluster a channel has to be in its lock's slot.
    only: Option<Name>,
    pub(super) wakeups: Arc<Wakeups>,
    pub(super) channels: Channels,
    pub(super) waking: Waking,
    pub(super) untold: Untold,
    /// Of the nodes that have been subscribed to.
    jobs: Mutex<HashMap<NodeId, Arc<Jobs>>>,
    /// Tells the keeper to look now.
    pub(super) nudge: Notify,
}

impl PubSub {
    pub(crate) fn new(env: &Arc<Env>, servers: &Arc<Servers>) -> Arc<Self> {
        let client = env.client.as_str();
        let only = || [&*env.options.prefix, "~c:", client].concat().into();
        let pubsub = Arc::new(Self {
            only: (!servers.is_cluster()).then(only),
            env: Arc::clone(env),
            servers: Arc::clone(servers),
            wakeups: Arc::default(),
            channels: Channels::default(),
            waking: Waking::default(),
            untold: Untold::default(),
            jobs: Mutex::default(),
            nudge: Notify::new(),
        });
        let keeping = keep(Arc::clone(&pubsub));
        env.tasks.spawn(&Place::own(), keeping);
        pubsub
    }

    /// Listens, and waits for the channel to be live: until then at most, or until that fails.
    pub(crate) async fn listen(
        self: &Arc<Self>,
        key: &LockKey,
        hold: &HoldId,
        until: Instant,
    ) -> Listening {
        let name = self.channel_of(key);
        if self.env.publish.get() == PublishMode::Off {
            return Listening::deaf(self.wakeups.listen(hold, name));
        }
        // From here on, dropping this future takes everything back.
        let listening = Listening::new(self, key, &name, hold);
        let joined = self.channels.join(&name, key.slot(), hold);
        if joined.is_new {
            self.subscribe(&name, key.slot());
            self.nudge.notify_one();
        }
        let settled = async {
            loop {
                let changed = joined.changed.notified();
                if !self.channels.is_pending(&name) {
                    return;
                }
                changed.await;
            }
        };
        if timeout_at(until, settled).await.is_err() {
            self.channels.give_up(&name);
        }
        listening
    }

    /// Listens if the channel is live already.
    pub(crate) fn listen_if_subscribed(
        self: &Arc<Self>,
        key: &LockKey,
        hold: &HoldId,
    ) -> Option<Listening> {
        if self.channels.is_empty() {
            return None;
        }
        let name = self.channel_of(key);
        let is_live = self.channels.join_if_live(&name, hold);
        is_live.then(|| Listening::new(self, key, &name, hold))
    }

    /// Subscribes channels again whose slots have moved.
    pub(crate) fn topology_changed(self: &Arc<Self>) {
        let topology = self.servers.topology();
        let owner = |slot| topology.node(slot).map(|node| node.id());
        let moved = self.channels.lose_moved(owner);
        for (name, node, number) in moved.unsubscribe {
            self.job(node, Job::Unsubscribe(name, number));
        }
        self.missed(moved.listeners);
        let known = |id: &NodeId| topology.by_id(*id).is_some();
        self.jobs.lock().retain(|id, jobs| {
            let stays = known(id);
            if !stays {
                jobs.close();
            }
            stays
        });
        self.nudge.notify_one();
    }

    /// Starts over where connections are driven now.
    pub(super) fn start_over(self: &Arc<Self>) {
        for (_, jobs) in self.jobs.lock().drain() {
            jobs.close();
        }
        self.missed(self.channels.lose_all());
    }

    /// Has a channel subscribed by the node that owns its slot now.
    pub(super) fn subscribe(self: &Arc<Self>, name: &Name, slot: Slot) {
        let owner = self.servers.now().node(slot).cloned();
        let job = Job::Subscribe(Arc::clone(name));
        if owner.is_none_or(|owner| self.jobs_of(&owner).push(job).is_err()) {
            self.failed(name);
        }
    }

    /// A channel could not be asked for.
    pub(super) fn failed(self: &Arc<Self>, name: &Name) {
        self.missed(self.channels.fail(name));
    }

    /// Has a node's worker do something, if it has one.
    pub(super) fn job(&self, node: NodeId, job: Job) {
        if let Some(jobs) = self.jobs.lock().get(&node) {
            // Without a worker there is no connection any more, and nothing to take back on it.
            let _ = jobs.push(job);
        }
    }

    fn jobs_of(self: &Arc<Self>, node: &Arc<Node>) -> Arc<Jobs> {
        let mut all = self.jobs.lock();
        if let Some(jobs) = all.get(&node.id())
            && !jobs.is_closed()
        {
            return Arc::clone(jobs);
        }
        let jobs = Arc::new(Jobs::default());
        all.insert(node.id(), Arc::clone(&jobs));
        drop(all);
        let work = Worker::new(self, node, &jobs).run();
        self.env.tasks.spawn(&self.env.home.place(), work);
        jobs
    }

    fn channel_of(&self, key: &LockKey) -> Name {
        let of_lock = match &self.only {
            Some(only) if key.prefix() == self.env.options.prefix => return Arc::clone(only),
            Some(_) => "",
            None => key.suffix(),
        };
        let client = self.env.client.as_str();
        [key.prefix(), "~c", of_lock, ":", client].concat().into()
    }
}

impl fmt::Debug for PubSub {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PubSub")
            .field("mode", &self.env.publish.get())
            .field("channels", &self.channels)
            .finish_non_exhaustive()
    }
}

/// For how long that is believed of a lock.
const MEMORY: Duration = Duration::from_secs(5);

/// Locks whose waiters found them free lately without a message: the releasing clients may not have the right to publish.
#[derive(Debug, Default)]
pub(super) struct Untold {
    until: Mutex<HashMap<LockKey, Instant>>,
    /// How many there are: mostly none.
    count: AtomicUsize,
}

impl Untold {
    pub(super) fn has(&self, key: &LockKey) -> bool {
        self.count.load(Ordering::Relaxed) > 0
            && (self.until.lock().get(key)).is_some_and(|until| Instant::now() < *until)
    }

    /// The lock became free, and no message came.
    pub(super) fn add(&self, key: &LockKey) {
        let mut until = self.until.lock();
        let now = Instant::now();
        until.retain(|_, until| now < *until);
        until.insert(key.clone(), now + MEMORY);
        self.count.store(until.len(), Ordering::Relaxed);
    }

    /// A message came.
    pub(super) fn remove(&self, key: &LockKey) {
        if self.count.load(Ordering::Relaxed) > 0 {
            let mut until = self.until.lock();
            until.remove(key);
            self.count.store(until.len(), Ordering::Relaxed);
        }
    }
}

/// How many are woken at once, and after which pause the next: each asks a server then, which has others to serve.
const AT_ONCE: usize = 32;
const PAUSE: Duration = Duration::from_millis(4);

/// The waiters to wake, each once.
#[derive(Debug, Default)]
pub(super) struct Waking(Mutex<Queue>);

#[derive(Debug, Default)]
struct Queue {
    waiting: VecDeque<HoldId>,
    known: HashSet<HoldId>,
    /// Whether a task processes the queue.
    is_seen_to: bool,
}

impl Waking {
    /// Adds them; whether a task has to start processing the queue.
    fn add(&self, holds: impl IntoIterator<Item = HoldId>) -> bool {
        let mut queue = self.0.lock();
        let queue = &mut *queue;
        for hold in holds {
            if queue.known.insert(hold.clone()) {
                queue.waiting.push_back(hold);
            }
        }
        !queue.waiting.is_empty() && !std::mem::replace(&mut queue.is_seen_to, true)
    }

    /// The next few. If there are none, the task that processes the queue ends.
    fn next(&self) -> Vec<HoldId> {
        let mut queue = self.0.lock();
        let queue = &mut *queue;
        let count = queue.waiting.len().min(AT_ONCE);
        let next: Vec<_> = queue.waiting.drain(..count).collect();
        for hold in &next {
            queue.known.remove(hold);
        }
        queue.is_seen_to = !next.is_empty();
        next
    }
}

impl PubSub {
    /// Holds may have missed something: what they hear before they have asked again counts no more. They are told to, a few
    /// at a time.
    pub(super) fn missed(self: &Arc<Self>, holds: Vec<HoldId>) {
        for hold in &holds {
            self.wakeups.distrust(hold);
        }
        if self.waking.add(holds) {
            let first = self.waking.next();
            self.wake(&first);
            let others = wake_all(Arc::clone(self));
            self.env.tasks.spawn(&Place::own(), others);
        }
    }

    fn wake(&self, holds: &[HoldId]) {
        for hold in holds {
            self.wakeups.look(hold);
        }
    }
}

async fn wake_all(pubsub: Arc<PubSub>) {
    loop {
        sleep(PAUSE).await;
        let next = pubsub.waking.next();
        if next.is_empty() {
            return;
        }
        pubsub.wake(&next);
    }
}
