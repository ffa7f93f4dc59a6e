//! One server, and the connection to it that comes back; which scripts it has been sent.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use arc_swap::ArcSwapOption;
use tokio::sync::watch;

use super::budget::Budget;
use super::connection::{NoAnswer, Session};
use super::dial::{Dial, DialFailure, Dialing};
use super::server_time::ServerTime;
use super::trouble::Trouble;
use crate::clock::{BootInstant, Instant, timeout_at};
use crate::error::Error;
use crate::store::Origin;
use crate::store::redis::address::Address;
use crate::store::redis::env::Env;
use crate::store::redis::wire::Script;

/// Names a server within one store, for as long as the store knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(u32);

impl NodeId {
    /// As messages and answers name their sender.
    pub(crate) fn origin(self) -> Origin {
        Origin::of(self.0)
    }

    /// Names a connection to this server within one store. Never 0, because it is odd.
    pub(crate) fn connection(self, serial: u64) -> u64 {
        (u64::from(self.0) << 32) | (serial << 1 & u64::from(u32::MAX)) | 1
    }

    /// Stands for no node at all.
    pub(crate) const NOBODY: Self = Self(u32::MAX);
}

/// How long one caller waits for a connection before it looks at the topology again.
const PATIENCE: Duration = Duration::from_millis(250);

/// The least time between two looks for a connection without news.
const LEAST: Duration = Duration::from_millis(10);

/// A server.
pub(crate) struct Node {
    id: NodeId,
    address: Address,
    env: Arc<Env>,
    session: ArcSwapOption<Session>,
    pub(super) dial: watch::Sender<Dial>,
    pub(crate) time: ServerTime,
    pub(crate) taught: Taught,
    /// The acquires under way to it.
    pub(crate) budget: Budget,
    /// Since when no request was answered, in ms after `born`, plus one; 0 while all is well.
    silent_since: AtomicU64,
    born: Instant,
}

impl Node {
    pub(crate) fn new(address: Address, env: &Arc<Env>) -> Arc<Self> {
        Arc::new(Self {
            id: NodeId(env.next_node()),
            address,
            env: Arc::clone(env),
            session: ArcSwapOption::empty(),
            dial: watch::Sender::default(),
            time: ServerTime::new(),
            taught: Taught::default(),
            budget: Budget::new(env.options.response_timeout),
            silent_since: AtomicU64::new(0),
            born: Instant::now(),
        })
    }

    pub(crate) fn id(&self) -> NodeId {
        self.id
    }

    pub(crate) fn address(&self) -> &Address {
        &self.address
    }

    pub(crate) fn env(&self) -> &Arc<Env> {
        &self.env
    }

    pub(crate) fn is_connected(&self) -> bool {
        self.session.load().is_some()
    }

    /// The number of the connection, if there is one now: the next connection has another.
    pub(crate) fn serial(&self) -> Option<u64> {
        self.session.load().as_ref().map(|session| session.serial)
    }

    /// The connection, if there is one now.
    pub(crate) fn session(&self) -> Option<Session> {
        self.session.load().as_deref().cloned()
    }

    /// The connection, made if need be, once there is one; waits for it until `deadline`, whatever fails meanwhile. Very many
    /// may wait: each looks only when there is news.
    pub(crate) async fn connected_at_last(
        self: &Arc<Self>,
        deadline: Instant,
    ) -> Result<Session, DialFailure> {
        let mut dial = self.dial.subscribe();
        let mut has_news = false;
        loop {
            dial.mark_unchanged();
            if let Some(session) = self.session() {
                return Ok(session);
            }
            if !self.start_dialing() {
                return Err(DialFailure::Fatal(Error::closed()));
            }
            let now = Instant::now();
            let next_news = {
                let dial = dial.borrow();
                if now >= deadline || has_news && dial.is_hopeless() {
                    return Err(self.why_not(&dial));
                }
                dial.next_news
            };
            // Without news by then, the dial's runtime stands still, and another one takes over.
            let look = next_news.map_or(deadline, |due| due.max(now + LEAST));
            has_news = timeout_at(deadline.min(look), dial.changed()).await.is_ok();
        }
    }

    /// Whether callers wait for a connection.
    pub(crate) fn is_awaited(&self) -> bool {
        self.dial.receiver_count() > 0 && !self.is_connected()
    }

    /// The connection, made if need be; waits a moment for it, at most until `deadline`: for callers to which another server
    /// may be of use as well.
    pub(crate) async fn connected(
        self: &Arc<Self>,
        deadline: Instant,
    ) -> Result<Session, DialFailure> {
        let mut dial = self.dial.subscribe();
        if let Some(session) = self.session() {
            return Ok(session);
        }
        if !self.start_dialing() {
            return Err(DialFailure::Fatal(Error::closed()));
        }
        let patience =
            deadline.min(Instant::now() + self.env.options.connect_timeout.min(PATIENCE));
        // A timeout here only means that there is no news; what is known is told below.
        let _ = timeout_at(patience, dial.changed()).await;
        if let Some(session) = self.session() {
            return Ok(session);
        }
        let dial = dial.borrow();
        Err(self.why_not(&dial))
    }

    /// Why there is no connection.
    fn why_not(&self, dial: &Dial) -> DialFailure {
        let yet = || DialFailure::Trouble(Trouble::Connecting(self.address.clone()));
        dial.failed.clone().unwrap_or_else(yet)
    }

    /// A request was answered.
    pub(crate) fn answered(&self) {
        if self.silent_since.load(Ordering::Relaxed) != 0 {
            self.silent_since.store(0, Ordering::Relaxed);
        }
    }

    /// A request that was sent at `sent` was not answered: gives the connection up if it is to blame, and says
    /// what the trouble is.
    pub(crate) fn unanswered(
        self: &Arc<Self>,
        session: &Session,
        sent: Instant,
        why: NoAnswer,
    ) -> Trouble {
        let address = self.address.clone();
        match why {
            NoAnswer::Io(error) => {
                self.lost(session.serial);
                Trouble::Io(address, error)
            }
            NoAnswer::Stalled => {
                self.env.leave_home();
                self.lost(session.serial);
                Trouble::Silence(address)
            }
            NoAnswer::Silence => {
                self.fell_silent(session, sent);
                Trouble::Silence(address)
            }
        }
    }

    /// Once nothing was answered for the response timeout, whatever the deadlines of the single
    /// requests were, the connection may be dead without knowing.
    fn fell_silent(self: &Arc<Self>, session: &Session, sent: Instant) {
        let current = self.session.load();
        if current
            .as_ref()
            .is_none_or(|current| current.serial != session.serial)
        {
            return;
        }
        let millis = |at: Instant| u64::try_from((at - self.born).as_millis()).unwrap_or(u64::MAX);
        let since = match self.silent_since.load(Ordering::Relaxed) {
            0 => millis(sent) + 1,
            since => since,
        };
        self.silent_since.store(since, Ordering::Relaxed);
        let longest = self.env.options.response_timeout;
        let passed = u128::from((millis(Instant::now()) + 1).saturating_sub(since));
        if passed >= longest.as_millis() && session.connection.under_way.is_silent(longest) {
            self.doubt(session.serial);
        }
    }

    /// Nothing has come over connection `serial` for long: it may be dead, or the server is slow. Which is the case, another
    /// connection tells. Meanwhile requests stay on the first one: sent again to a slow server, they would make it slower.
    /// Returns whether the connection is still in use.
    pub(super) fn doubt(self: &Arc<Self>, serial: u64) -> bool {
        let current = self.session.load_full();
        let Some(current) = current.filter(|current| current.serial == serial) else {
            return false;
        };
        current.connection.under_way.doubt();
        self.start_dialing();
        // Another server may be taking its place.
        self.env.refresh.request();
        true
    }

    /// Whether something has come over its connection of late.
    pub(crate) fn speaks(&self) -> bool {
        let longest = self.env.options.response_timeout;
        let session = self.session.load();
        (session.as_ref()).is_some_and(|session| session.connection.under_way.was_heard(longest))
    }

    /// Whether its connection may be dead.
    pub(crate) fn is_doubted(&self) -> bool {
        let session = self.session.load();
        (session.as_ref()).is_some_and(|session| session.connection.under_way.is_doubted())
    }

    /// Whether another connection is to replace the one there is, if any.
    pub(super) fn needs_another(&self) -> bool {
        let session = self.session.load();
        session.as_ref().is_none_or(|current| {
            let is_away = !current.connection.is_lent() && !self.env.home.is_left();
            is_away || current.connection.under_way.is_doubted()
        })
    }

    /// Requests that are late do not wait for this server's answers any longer.
    pub(crate) fn give_up(&self) {
        if let Some(current) = &*self.session.load() {
            current.connection.under_way.give_up();
        }
    }

    /// Ends the use of connection `serial`, and makes the next one.
    pub(super) fn lost(self: &Arc<Self>, serial: u64) {
        let current = self.session.load_full();
        let Some(current) = current.filter(|current| current.serial == serial) else {
            return;
        };
        let previous = self.session.compare_and_swap(&current, None);
        if previous
            .as_ref()
            .is_some_and(|previous| Arc::ptr_eq(previous, &current))
        {
            current.connection.under_way.give_up();
            self.env.refresh.request();
            self.start_dialing();
        }
    }

    /// Takes a new connection into use.
    pub(super) fn install(&self, session: Session) {
        self.silent_since.store(0, Ordering::Relaxed);
        self.taught.forget_all();
        let previous = self.session.swap(Some(Arc::new(session)));
        if let Some(previous) =
            previous.filter(|previous| previous.connection.under_way.is_doubted())
        {
            previous.connection.under_way.give_up();
        }
    }

    /// Closes the connection, after the store's tasks: no other follows.
    pub(crate) fn close(&self) {
        self.session.store(None);
    }

    /// Has the connection driven at home again, once it is not left any more. Requests go through the one there is until
    /// the other is made.
    pub(crate) fn move_home(self: &Arc<Self>) {
        let away = |session: Session| !session.connection.is_lent();
        if !self.env.home.is_left() && self.session().is_some_and(away) {
            self.start_dialing();
        }
    }

    /// Starts to connect unless that is under way; whether the store is still open.
    fn start_dialing(self: &Arc<Self>) -> bool {
        let mut start = None;
        self.dial.send_if_modified(|dial| {
            start = dial.begin(Instant::now());
            false
        });
        let Some(begun) = start else { return true };
        if begun.instead_of_another {
            self.env.leave_home();
        }
        let dialing = Dialing::new(Arc::clone(self), begun.number);
        let place = self.env.home.place();
        self.env.tasks.spawn(&place, dialing.run()).is_some()
    }
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Node")
            .field("id", &self.id)
            .field("address", &self.address)
            .field("connected", &self.is_connected())
            .finish_non_exhaustive()
    }
}

/// When the text of each script went to the node over its connection, in ns of the boot clock; 0 if it did not. A script
/// goes as its text once, and by its name after that: a server that is sent only what it needs has less to keep in its
/// cache. That it was sent does not mean that it is known, and a server may forget it: then it says so.
#[derive(Debug, Default)]
pub(crate) struct Taught([AtomicU64; Script::ALL.len()]);

impl Taught {
    /// Notes that the text goes now; whether that is the first time.
    pub(crate) fn is_new(&self, script: Script, now: BootInstant) -> bool {
        let sent = &self.0[script as usize];
        let (order, now) = (Ordering::Relaxed, now.as_nanos().max(1));
        sent.load(order) == 0 && sent.compare_exchange(0, now, order, order).is_ok()
    }

    /// A request that left at `asked` found that the node does not have the script. A text that has left since may have loaded
    /// it: of many requests that are refused together, one sends the text.
    pub(crate) fn forget(&self, script: Script, asked: BootInstant) {
        let sent = &self.0[script as usize];
        let (order, seen) = (Ordering::Relaxed, sent.load(Ordering::Relaxed));
        if seen <= asked.as_nanos() {
            // If this fails, another request was quicker: it has cleared the mark, or sends the text.
            let _ = sent.compare_exchange(seen, 0, order, order);
        }
    }

    /// Another connection, perhaps to another server.
    pub(super) fn forget_all(&self) {
        for sent in &self.0 {
            sent.store(0, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{NodeId, Taught};
    use crate::clock::BootInstant;
    use crate::store::redis::wire::Script;

    #[test]
    fn no_connection_has_the_number_that_stands_for_none() {
        for node in [NodeId(0), NodeId(1), NodeId::NOBODY] {
            let numbers = [0, 1, u64::MAX].map(|serial| node.connection(serial));
            assert!(!numbers.contains(&0), "{node:?}");
            assert_ne!(numbers[0], numbers[1]);
        }
        assert_ne!(NodeId(0).connection(1), NodeId(1).connection(0));
    }

    #[test]
    fn of_many_requests_that_a_forgetful_server_refuses_one_sends_the_text() {
        let at = BootInstant::from_nanos;
        let (taught, script) = (Taught::default(), Script::Renew);
        assert!(taught.is_new(script, at(1)));
        assert!(!taught.is_new(script, at(2)), "it is on its way");
        assert!(taught.is_new(Script::Release, at(2)), "another script");
        for (asked, again) in [(3, 10), (4, 11), (5, 12)] {
            taught.forget(script, at(asked));
            assert_eq!(taught.is_new(script, at(again)), asked == 3, "{asked}");
        }
        taught.forget(script, at(13));
        assert!(taught.is_new(script, at(14)), "refused after the text");
        taught.forget_all();
        assert!(taught.is_new(Script::Release, at(15)));
    }
}
