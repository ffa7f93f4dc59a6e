//! One of the servers.

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use super::health::{Health, Roster};
use super::outbox::Outbox;
use crate::clock::{BootInstant, Instant};
use crate::error::{Error, ErrorKind};
use crate::key::LockKey;
use crate::protocol::Op;
use crate::store::{Answer, MemoryStore, RedisStore, ScriptLoad};
use crate::sync::Mutex;

/// The shortest time that a member is given to answer.
pub(super) const SHORTEST: Duration = Duration::from_millis(20);

/// How many times as long as usual an answer has to take for its server to count as silent.
const HASTE: u32 = 4;

/// A request on its way to a member. It does not depend on the future of a caller.
pub(super) type Asking<T> = Pin<Box<dyn Future<Output = (usize, T)> + Send>>;

/// One of the servers of a quorum.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) number: usize,
    /// Nothing before it has been reached for the first time.
    server: OnceLock<Server>,
    pub(super) health: Health,
    pub(super) roster: Arc<Roster>,
    /// Why it did not answer last.
    trouble: Mutex<Option<Error>>,
    pub(super) outbox: Outbox,
    closed: AtomicBool,
}

impl Member {
    pub(super) fn new(number: usize, roster: &Arc<Roster>) -> Self {
        Self {
            number,
            server: OnceLock::new(),
            health: Health::default(),
            roster: Arc::clone(roster),
            trouble: Mutex::default(),
            outbox: Outbox::default(),
            closed: AtomicBool::new(false),
        }
    }

    /// It has been reached.
    pub(super) fn begin(&self, server: Server) {
        // Only one task connects to a member.
        let _ = self.server.set(server);
    }

    pub(super) fn server(&self) -> Option<&Server> {
        self.server.get()
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// Why it is not asked.
    pub(super) fn excuse(&self) -> Error {
        if self.is_closed() {
            return Error::closed();
        }
        self.trouble.lock().clone().unwrap_or_else(never_reached)
    }

    /// The server does not answer.
    pub(super) fn in_trouble(&self, error: Error) {
        let mut trouble = self.trouble.lock();
        // Silence, for which the time may just have been too short, tells less than what was known.
        if trouble.is_none() || !error.is_timeout() {
            *trouble = Some(error);
        }
    }

    /// The server answers again.
    pub(super) fn recovered(&self) {
        *self.trouble.lock() = None;
    }

    /// Carries out an operation there, and takes until `until` at most.
    pub(super) async fn call(
        self: &Arc<Self>,
        key: &LockKey,
        op: &Op,
        until: Instant,
    ) -> Result<Answer, Error> {
        let store = match self.server().ok_or_else(never_reached)? {
            Server::Memory(store) => return Ok(memory_answer(store, key, op)),
            Server::Redis(store) => store,
        };
        let (slot, link, sent) = (key.slot(), store.link(key.slot()), Instant::now());
        let outcome = store.call(key, op, until).await;
        match &outcome {
            Err(error) if is_silence(error) => {
                // So little time says nothing about the server.
                if until >= sent + SHORTEST.max(HASTE * self.health.pace()) {
                    self.in_trouble(error.clone());
                    if let Some(link) = link {
                        self.health.fell_silent(link);
                    }
                    self.probe(store.node_of(slot), slot);
                }
            }
            Err(_) => {}
            Ok(_) => {
                self.health.took(Instant::now() - sent);
                let is_same = link == store.link(slot);
                if counts(op) && !(is_same && link.is_some_and(|link| self.health.is_proven(link)))
                {
                    self.probe(store.node_of(slot), slot);
                    return Err(not_proven());
                }
            }
        }
        outcome
    }

    /// [`call`](Self::call), as a future that can be left to a task.
    pub(super) fn ask(
        self: &Arc<Self>,
        key: &LockKey,
        op: Op,
        until: Instant,
    ) -> Asking<Result<Answer, Error>> {
        let (member, key) = (Arc::clone(self), key.clone());
        Box::pin(async move { (member.number, member.call(&key, &op, until).await) })
    }

    pub(super) async fn keys(&self, stem: &str, until: Instant) -> Result<Vec<String>, Error> {
        let server = self.server().ok_or_else(never_reached)?;
        server.keys(stem, until).await
    }

    pub(super) async fn script_load(&self, until: Instant) -> Result<ScriptLoad, Error> {
        let server = self.server().ok_or_else(never_reached)?;
        server.script_load(until).await
    }

    pub(super) async fn shutdown(&self) {
        self.closed.store(true, Ordering::Release);
        self.roster.changed.notify_waiters();
        if let Some(server) = self.server() {
            server.shutdown().await;
        }
    }
}

/// Whether an error says that a server did not answer, rather than what.
fn is_silence(error: &Error) -> bool {
    (error.is_unavailable() || error.is_timeout()) && !error.is_deferred()
}

/// Whether the answer to an operation says that this member has the hold, so that it has to come from no other's server.
fn counts(op: &Op) -> bool {
    matches!(op, Op::Acquire { .. } | Op::Renew { .. } | Op::Raise { .. })
}

fn not_proven() -> Error {
    Error::new(
        ErrorKind::Unavailable,
        "the connection to the server was made anew, and it has not said yet which server it leads to",
    )
}

fn never_reached() -> Error {
    Error::new(
        ErrorKind::Unavailable,
        "the server has not been reached yet",
    )
}

/// A store that answers for itself.
#[derive(Debug)]
pub(super) enum Server {
    /// In this process.
    Memory(Arc<MemoryStore>),
    /// A server, or a cluster.
    Redis(RedisStore),
}

/// Carries out an operation on a store in this process.
pub(super) fn memory_answer(store: &MemoryStore, key: &LockKey, op: &Op) -> Answer {
    let sent_at = BootInstant::now();
    Answer {
        reply: store.apply(key, op),
        from: MemoryStore::ORIGIN,
        sent_at,
        resent: false,
    }
}

impl Server {
    pub(super) async fn keys(&self, stem: &str, until: Instant) -> Result<Vec<String>, Error> {
        match self {
            Self::Memory(store) => Ok(store.keys(stem)),
            Self::Redis(store) => store.keys(stem, until).await,
        }
    }

    pub(super) async fn script_load(&self, until: Instant) -> Result<ScriptLoad, Error> {
        match self {
            Self::Memory(_) => Ok(ScriptLoad::default()),
            Self::Redis(store) => store.script_load(until).await,
        }
    }

    pub(super) async fn shutdown(&self) {
        if let Self::Redis(store) = self {
            store.shutdown().await;
        }
    }
}
