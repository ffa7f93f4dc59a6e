//! One of the servers.

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use super::health::Health;
use super::outbox::Outbox;
use super::server::Server;
use crate::clock::{BootInstant, Instant};
use crate::error::{Error, ErrorKind};
use crate::key::LockKey;
use crate::protocol::Op;
use crate::store::{Answer, ScriptLoad};
use crate::sync::Mutex;

/// A request on its way to a member, on which nobody's future depends.
pub(super) type Asking<T> = Pin<Box<dyn Future<Output = (usize, T)> + Send>>;

/// One of the servers of a quorum.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) number: usize,
    /// Nothing before it has been reached for the first time.
    server: OnceLock<Server>,
    pub(super) health: Health,
    /// Why it did not answer last.
    trouble: Mutex<Option<Error>>,
    pub(super) outbox: Outbox,
    closed: AtomicBool,
}

impl Member {
    pub(super) fn new(number: usize) -> Self {
        Self {
            number,
            server: OnceLock::new(),
            health: Health::default(),
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
        self.trouble.lock().clone().unwrap_or_else(never_reached)
    }

    /// Whether it is worth sending something to it that it would have to be told to forget.
    pub(super) fn is_worth_asking(&self, now: BootInstant) -> bool {
        self.server().is_some() && self.health.is_worth_asking(now)
    }

    /// Carries out an operation there, and takes until `until` at most.
    pub(super) async fn call(
        &self,
        key: &LockKey,
        op: &Op,
        until: Instant,
    ) -> Result<Answer, Error> {
        let server = self.server().ok_or_else(never_reached)?;
        let outcome = server.call(key, op, until).await;
        match &outcome {
            Err(error) if is_silence(error) => {
                self.health.failed(BootInstant::now());
                let mut trouble = self.trouble.lock();
                // Silence, for which the time may just have been too short, tells less than what was known.
                if trouble.is_none() || !error.is_timeout() {
                    *trouble = Some(error.clone());
                }
            }
            _ => {
                if self.health.answered() {
                    *self.trouble.lock() = None;
                }
            }
        }
        outcome
    }

    /// The same, as a future that can be left to a task.
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
        if let Some(server) = self.server() {
            server.shutdown().await;
        }
    }
}

/// Whether an error says that a server did not answer, rather than what.
fn is_silence(error: &Error) -> bool {
    (error.is_unavailable() || error.is_timeout()) && !error.is_deferred()
}

fn never_reached() -> Error {
    Error::new(
        ErrorKind::Unavailable,
        "the server has not been reached yet",
    )
}
