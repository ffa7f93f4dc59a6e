//! Connecting to a node: once at a time, whoever asks.

use std::sync::{Arc, Weak};

use redis::RedisError;

use super::connection::{Connection, NoAnswer, Session};
use super::denial::login_error;
use super::login::connect;
use super::server::Node;
use super::trouble::Trouble;
use crate::clock::{BootInstant, Instant, sleep};
use crate::error::Error;
use crate::store::redis::backoff::Backoff;
use crate::store::redis::wire::{Push, greeting, time};

/// The state of connecting.
#[derive(Default)]
pub(super) struct Dial {
    pub(super) running: bool,
    pub(super) wanted: bool,
    pub(super) connected_before: bool,
    pub(super) failed: Option<DialFailure>,
}

/// Why the node could not be connected to the last time.
#[derive(Clone)]
pub(crate) enum DialFailure {
    /// The next one may succeed.
    Trouble(Trouble),
    /// Wrong password and the like.
    Fatal(Error),
}

/// Connecting, under way for as long as this lives.
pub(super) struct Dialing {
    node: Arc<Node>,
    /// Whether `Dial::running` has been taken back.
    ended: bool,
}

impl Dialing {
    /// Once `Dial::running` has been set.
    pub(super) fn new(node: Arc<Node>) -> Self {
        Self { node, ended: false }
    }

    /// Tries until it works, or until nobody asks any more.
    pub(super) async fn run(mut self) {
        let mut backoff = Backoff::of_connect();
        while !self.ended {
            self.node.dial.send_if_modified(|dial| {
                dial.wanted = false;
                false
            });
            match self.try_once().await {
                Ok(session) => self.succeed(session),
                Err(failed) => {
                    self.node
                        .dial
                        .send_modify(|dial| dial.failed = Some(failed));
                    self.node.env().refresh.request();
                    sleep(backoff.pause()).await;
                    self.end_unless_wanted();
                }
            }
        }
    }

    fn succeed(&mut self, session: Session) {
        let node = &self.node;
        node.install(session);
        node.dial.send_modify(|dial| {
            if dial.connected_before {
                node.env().stats.reconnects.count();
            }
            dial.connected_before = true;
            dial.failed = None;
            dial.running = false;
        });
        self.ended = true;
    }

    fn end_unless_wanted(&mut self) {
        self.node.dial.send_if_modified(|dial| {
            dial.running = dial.wanted;
            self.ended = !dial.wanted;
            false
        });
    }

    async fn try_once(&self) -> Result<Session, DialFailure> {
        let (env, address) = (self.node.env(), self.node.address());
        let serial = env.next_number();
        let failed = |error| match login_error(&error, address, env) {
            Some(fatal) => DialFailure::Fatal(fatal),
            None => DialFailure::Trouble(Trouble::Io(address.clone(), error)),
        };
        let on_push = watch_for_end(Arc::downgrade(&self.node), serial);
        let connection = connect(env, address, on_push).await.map_err(failed)?;
        self.prepare(connection.clone()).await.map_err(failed)?;
        Ok(Session { connection, serial })
    }

    /// Names the connection and asks for the time. Being refused that is no harm: it only costs a second request later.
    async fn prepare(&self, mut connection: Connection) -> Result<(), RedisError> {
        let env = self.node.env();
        let greeting = greeting(env.client.as_str());
        let until = Instant::now() + env.options.connect_timeout;
        match connection.request_all(&greeting, until).await {
            Err(NoAnswer::Io(error)) => Err(error),
            Err(NoAnswer::Silence) => Ok(()),
            Ok(answers) => {
                if let Some(micros) = time(&answers) {
                    self.node.time.learn(micros, BootInstant::now());
                }
                Ok(())
            }
        }
    }
}

impl Drop for Dialing {
    /// A dial that was aborted, with its runtime perhaps, must not keep others from dialing.
    fn drop(&mut self) {
        if !self.ended {
            self.node.dial.send_if_modified(|dial| {
                dial.running = false;
                false
            });
        }
    }
}

/// Hears of the end of connection `serial`.
fn watch_for_end(node: Weak<Node>, serial: u64) -> impl Fn(Push<'_>) {
    move |push| {
        if let Push::Disconnected = push
            && let Some(node) = node.upgrade()
        {
            node.lost(serial);
        }
    }
}
