//! Connecting to a node, one dial at a time; logging in, and trying which messages the server delivers for this user.

use std::io;
use std::sync::{Arc, Weak};
use std::time::Duration;

use redis::{AsyncConnectionConfig, ProtocolVersion, PushInfo, RedisConnectionInfo, RedisError};

use super::connection::{Connection, NoAnswer, Session};
use super::server::Node;
use super::stream::open;
use super::trouble::Trouble;
use super::trouble::login_error;
use super::under_way::UnderWay;
use crate::backoff::Backoff;
use crate::clock::{BootInstant, Instant, sleep, timeout};
use crate::error::Error;
use crate::key::LockKey;
use crate::store::redis::address::Address;
use crate::store::redis::env::Env;
use crate::store::redis::wire::{
    Offer, PublishMode, Push, Refusal, greeting, refusal, time, try_publishing,
    try_publishing_by_script,
};

#[cfg(feature = "tls")]
use super::stream::tls::encrypt;

/// How much later than planned a dial may get to run.
const LATE: Duration = Duration::from_millis(100);

/// The shortest limit of a pause between two tries.
const SHORT: Duration = Duration::from_millis(20);

/// The state of connecting.
#[derive(Default)]
pub(super) struct Dial {
    running: bool,
    wanted: bool,
    /// The number of the dial that runs. A dial whose runtime stood still may continue after another has replaced it.
    number: u64,
    /// By when it will have said something new, if its runtime runs.
    pub(super) next_news: Option<Instant>,
    connected_before: bool,
    pub(super) failed: Option<DialFailure>,
}

/// A dial that is to start.
pub(super) struct Begun {
    pub(super) number: u64,
    /// Whether it replaces a dial whose runtime stands still.
    pub(super) instead_of_another: bool,
}

impl Dial {
    /// Whether no further try will succeed.
    pub(super) fn is_hopeless(&self) -> bool {
        matches!(self.failed, Some(DialFailure::Fatal(_)))
    }

    /// A caller wants a connection: whether a dial has to start.
    pub(super) fn begin(&mut self, now: Instant) -> Option<Begun> {
        self.wanted = true;
        let stands_still = self.running && self.next_news.is_some_and(|due| due < now);
        (!self.running || stands_still).then(|| {
            self.running = true;
            self.number += 1;
            self.next_news = Some(now + LATE);
            Begun {
                number: self.number,
                instead_of_another: stands_still,
            }
        })
    }
}

/// Why the node could not be connected to the last time.
#[derive(Clone)]
pub(crate) enum DialFailure {
    /// The next one may succeed.
    Trouble(Trouble),
    /// Wrong password and the like.
    Fatal(Error),
}

impl DialFailure {
    /// The pause before the next try. A server that closes connections at once has no work with them, and holds may end before
    /// a long pause does, if they are as short as the timeout suggests. A server that answers late has enough to do.
    fn pause(&self, backoff: &mut Backoff, response_timeout: Duration) -> Duration {
        match self {
            Self::Trouble(Trouble::Io(_, error)) if error.is_connection_dropped() => {
                backoff.pause_of_at_most((response_timeout / 2).max(SHORT))
            }
            _ => backoff.pause(),
        }
    }
}

impl From<Trouble> for DialFailure {
    fn from(trouble: Trouble) -> Self {
        Self::Trouble(trouble)
    }
}

/// Connecting, under way for as long as this lives.
pub(super) struct Dialing {
    node: Arc<Node>,
    number: u64,
    /// Whether `Dial::running` has been taken back, or is another's.
    ended: bool,
}

impl Dialing {
    /// Once [`Dial::begin`] has said so.
    pub(super) fn new(node: Arc<Node>, number: u64) -> Self {
        Self {
            node,
            number,
            ended: false,
        }
    }

    /// Tries until it works, or until no caller asks any more.
    pub(super) async fn run(mut self) {
        // Connecting, and what is asked of a new connection.
        let options = &self.node.env().options;
        let attempt = 2 * options.connect_timeout + options.slow_timeout();
        let response_timeout = options.response_timeout;
        let mut backoff = Backoff::of_connect();
        while !self.ended {
            self.update(|dial| {
                dial.wanted = false;
                dial.next_news = Some(Instant::now() + attempt + LATE);
            });
            if self.ended {
                return;
            }
            match self.try_once().await {
                Ok(session) => return self.succeed(session),
                Err(failed) => {
                    let pause = failed.pause(&mut backoff, response_timeout);
                    self.update(|dial| {
                        dial.failed = Some(failed);
                        dial.next_news = Some(Instant::now() + pause + LATE);
                    });
                    self.node.dial.send_modify(|_| {});
                    self.node.env().refresh.request();
                    sleep(pause).await;
                    self.end_unless_wanted();
                }
            }
        }
    }

    /// Changes the state of this dial without a notice, unless another has replaced it.
    fn update(&mut self, change: impl FnOnce(&mut Dial)) {
        let mut is_this = false;
        self.node.dial.send_if_modified(|dial| {
            is_this = dial.number == self.number;
            if is_this {
                change(dial);
            }
            false
        });
        self.ended |= !is_this;
    }

    fn succeed(&mut self, session: Session) {
        let node = Arc::clone(&self.node);
        self.update(|dial| {
            // The one that was in doubt may have shown to be good.
            if node.needs_another() {
                node.install(session);
                if dial.connected_before {
                    node.env().stats.reconnects.count();
                }
            }
            dial.connected_before = true;
            dial.failed = None;
            dial.running = false;
        });
        self.ended = true;
        self.node.dial.send_modify(|_| {});
    }

    fn end_unless_wanted(&mut self) {
        let mut ended = false;
        let is_awaited = self.node.is_awaited();
        let node = Arc::clone(&self.node);
        self.update(|dial| {
            dial.running = node.needs_another() && (dial.wanted || is_awaited);
            ended = !dial.running;
        });
        self.ended |= ended;
    }

    async fn try_once(&self) -> Result<Session, DialFailure> {
        let (env, address) = (self.node.env(), self.node.address());
        let serial = env.next_number();
        let failed = |error| match login_error(&error, address, env) {
            Some(fatal) => DialFailure::Fatal(fatal),
            None => DialFailure::Trouble(Trouble::Io(address.clone(), error)),
        };
        let on_push = watch_for_end(Arc::downgrade(&self.node), serial);
        let node = Arc::downgrade(&self.node);
        let on_silence = move || node.upgrade().is_some_and(|node| node.doubt(serial));
        let connecting = connect(env, address, on_push, on_silence);
        let connection = connecting.await.map_err(failed)?;
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
            Err(NoAnswer::Silence | NoAnswer::Stalled) => Ok(()),
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
            self.update(|dial| dial.running = false);
            // Callers that wait for the connection start another dial, or hear that the client is closed.
            self.node.dial.send_modify(|_| {});
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

/// Requests that may wait to be written. Many tasks share a connection, and none of them should wait
/// for room.
const BUFFER: usize = 1024;

/// Connects and logs in within the connect timeout. `on_push` hears of everything that is no reply, and of the
/// connection's end; `on_silence` when answers are late and nothing comes, and says whether to go on waiting.
pub(crate) async fn connect(
    env: &Env,
    address: &Address,
    on_push: impl Fn(Push<'_>) + Send + Sync + 'static,
    on_silence: impl Fn() -> bool + Send + Sync + 'static,
) -> Result<Connection, RedisError> {
    let options = &env.options;
    // RESP3 for the pushes: they tell at once when a connection ends, not only the next request.
    let mut login = RedisConnectionInfo::default()
        .set_protocol(ProtocolVersion::RESP3)
        .set_lib_name("dlock", env!("CARGO_PKG_VERSION"))
        .set_db(options.database);
    if let Some(username) = &options.username {
        login = login.set_username(username);
    }
    if let Some(password) = &options.password {
        login = login.set_password(password.reveal());
    }
    let under_way = UnderWay::new(on_silence);
    let heard = under_way.clone();
    // Requests bring their own timeouts.
    let config = AsyncConnectionConfig::new()
        .set_connection_timeout(Some(options.slow_timeout()))
        .set_response_timeout(None)
        .set_pipeline_buffer_size(BUFFER)
        .set_push_sender(move |push: PushInfo| {
            heard.whole();
            on_push(Push::of(&push));
            Ok::<(), ()>(())
        });
    let slow = |_| io::Error::new(io::ErrorKind::TimedOut, "no connection in time");
    let stream = timeout(options.connect_timeout, open(address)).await;
    let stream = stream.map_err(slow)??;
    let connecting = async {
        #[cfg(feature = "tls")]
        if options.tls {
            let stream = encrypt(env, address, stream).await?;
            return Connection::over(stream, under_way, &login, config).await;
        }
        Connection::over(stream, under_way, &login, config).await
    };
    timeout(options.slow_timeout(), connecting)
        .await
        .map_err(slow)?
}

impl Node {
    /// Publishes to a channel without subscribers, to find out; `None` without an answer. `tagged` says in which slot.
    pub(crate) async fn offer(
        &self,
        session: &mut Session,
        tagged: &str,
        until: Instant,
    ) -> Option<Offer> {
        let env = self.env();
        let channel = format!("{}~c:{tagged}:probe", env.options.prefix);
        let mut offer = Offer::BEST;
        while let Some(publish) = try_publishing(offer.mode, &channel) {
            let answer = session.connection.request(&publish, until).await.ok()?;
            if !offer.narrow(&answer) {
                break;
            }
        }
        // If this fails, another task has stored the result.
        let _ = env.known.sharded.set(offer.sharded);
        Some(offer)
    }

    /// Whether scripts may publish what this client may, as far as this server says.
    pub(crate) async fn offers_to_scripts(
        &self,
        session: &mut Session,
        mode: PublishMode,
        key: &LockKey,
        until: Instant,
    ) -> bool {
        let channel = format!("{}~c:{}:probe", key.prefix(), key.tagged());
        let Some(publish) = try_publishing_by_script(mode, key.as_str(), &channel) else {
            return true;
        };
        match session.connection.request(&publish, until).await {
            Ok(answer) => refusal(&answer).is_none_or(|error| {
                // Others are about this server, slot or moment.
                !matches!(Refusal::of(error, self.address()), Refusal::Fatal(_))
            }),
            Err(_) => true,
        }
    }
}
