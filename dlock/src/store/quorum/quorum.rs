//! The members, how they are found, and what is known of the holds on them.

use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::future::{Either, select};
use futures_util::stream::FuturesUnordered;

use super::contention::{Pauses, Refusals};
use super::health::Roster;
use super::ledger::Ledger;
use super::member::{Member, SHORTEST, Server};
use super::members::{Count, Members, majority};
use super::outbox::{About, Letter};
use crate::clock::{BootInstant, Instant, sleep, timeout_at};
use crate::error::Error;
use crate::key::LockKey;
use crate::protocol::{ClientId, HoldId, Op, Stray, validity};
use crate::slot::Slot;
use crate::store::{MemoryStore, Origin, RedisOptions, RedisStore};
use crate::tasks::Place;

/// How many times as long as the fastest a member may take to answer to be asked before the others.
const SLOW: u32 = 4;
/// How much more it may take in any case.
const SLACK: Duration = Duration::from_millis(5);

/// For how long a token that is ahead of the clocks is kept for a member that is down.
const LONGEST_AHEAD: Duration = Duration::from_secs(24 * 60 * 60);

/// Which server answers does not matter here.
pub(super) const ORIGIN: Origin = Origin::of(0);

/// The members, and what is known of the holds on them.
#[derive(Debug)]
pub(super) struct Quorum {
    pub(super) members: Box<[Arc<Member>]>,
    /// Under this name attempts are made: what the client is called names no hold.
    pub(super) client: ClientId,
    attempts: AtomicU64,
    pub(super) ledger: Ledger,
    pub(super) pauses: Pauses,
    pub(super) refusals: Refusals,
    pub(super) response_timeout: Duration,
    /// By how much members' clocks were seen to disagree at most, in µs.
    apart: AtomicU64,
    pub(super) roster: Arc<Roster>,
}

impl Quorum {
    fn new(
        (members, roster): (Box<[Arc<Member>]>, Arc<Roster>),
        client: ClientId,
        response_timeout: Duration,
    ) -> Self {
        Self {
            members,
            client,
            attempts: AtomicU64::new(1),
            ledger: Ledger::default(),
            pauses: Pauses::new(),
            refusals: Refusals::default(),
            response_timeout,
            apart: AtomicU64::new(0),
            roster,
        }
    }

    /// An id that no member has ever seen: what is undone stays undone, however late copies of it arrive.
    pub(super) fn next_attempt(&self) -> HoldId {
        HoldId::next(&self.client, &self.attempts)
    }

    /// How long a member may take to answer what counts for a lease: far less than that.
    pub(super) fn patience(&self, lease: Duration) -> Duration {
        (lease / 50).max(SHORTEST).min(self.response_timeout)
    }

    /// The members that answer, about a slot.
    pub(super) fn fit(&self, slot: Slot) -> Members {
        let mut fit = Members::default();
        for member in &self.members {
            if member.is_fit(slot) {
                fit.put(member.number);
            }
        }
        fit
    }

    /// The members that answer about a slot, as soon as they are a majority, or at `until`, or when the client is shut down.
    pub(super) async fn fit_majority(&self, slot: Slot, until: Instant) -> Members {
        loop {
            let mut changed = pin!(self.roster.changed.notified());
            changed.as_mut().enable();
            let fit = self.fit(slot);
            let closed = self.members.iter().any(|member| member.is_closed());
            if closed
                || fit.count() >= majority(self.members.len())
                || timeout_at(until, changed).await.is_err()
            {
                return fit;
            }
        }
    }

    /// The member that attempts on a lock ask before all others, so that only one of them goes on: the first one that answers
    /// as fast as the others do. While the lock is held, one that is known to have the hold: a member that came back empty
    /// is left alone, so that the holder finds it free.
    pub(super) fn meeting_point(&self, key: &LockKey, fit: Members) -> Option<usize> {
        let or_any = |some: Members, any: Members| if some.count() > 0 { some } else { any };
        let fit = or_any(fit.without(self.refusals.astray(key)), fit);
        let all = or_any(fit.common(self.pauses.holding(key.slot())), fit);
        let pace = |number: usize| self.members[number].health.pace();
        let fastest = fit.iter().map(pace).min()?;
        let mut fast = all
            .iter()
            .filter(|number| pace(*number) <= fastest * SLOW + SLACK);
        fast.next().or_else(|| all.iter().next())
    }

    /// Members have named tokens that are so far apart.
    pub(super) fn saw_apart(&self, apart: Duration) {
        let micros = u64::try_from(apart.as_micros()).unwrap_or(u64::MAX);
        if micros > self.apart.load(Ordering::Relaxed) {
            self.apart.fetch_max(micros, Ordering::Relaxed);
        }
    }

    /// Sends a member the token of a hold, in the background, for as long as the token may be ahead of the member's clock. (The
    /// tokens after one that was ahead are ahead, too. Members that received it name tokens close to each other.)
    pub(super) fn tell_later(&self, member: usize, key: &LockKey, op: Op) {
        let apart = Duration::from_micros(self.apart.load(Ordering::Relaxed));
        let until =
            BootInstant::now() + 2 * validity(self.response_timeout) + apart.min(LONGEST_AHEAD);
        let about = About::Token(key.clone());
        let key = key.clone();
        self.members[member].post(about, Letter { key, op, until });
    }

    /// Has these members forget an attempt or a hold, in the background; `open` are those of them where the acquire, or a copy
    /// of it, may still arrive.
    pub(super) fn forget_at(
        self: &Arc<Self>,
        members: Members,
        open: Members,
        key: &LockKey,
        id: &HoldId,
        lease: Duration,
    ) {
        // For as long as a late copy of the acquire may come, and then the hold last.
        let until = BootInstant::now() + lease + 2 * validity(self.response_timeout);
        for number in members.iter() {
            let stray = if open.has(number) {
                Stray::Possible
            } else {
                Stray::None
            };
            let (hold, key) = (id.clone(), key.clone());
            let op = Op::Abandon { hold, stray };
            self.members[number].post(About::End(id.clone()), Letter { key, op, until });
        }
        self.look_again(open, key, id, lease, Duration::ZERO);
    }

    /// Has these members forget an attempt or a hold once more, `rest` after nothing of it can arrive there any longer. What
    /// they received before covers requests with a validity: a plain `SET` has none, and a request may have been written after
    /// its validity.
    pub(super) fn look_again(
        self: &Arc<Self>,
        members: Members,
        key: &LockKey,
        id: &HoldId,
        lease: Duration,
        rest: Duration,
    ) {
        if members.count() == 0 {
            return;
        }
        let (quorum, key, id) = (Arc::clone(self), key.clone(), id.clone());
        Place::own().spawn(async move {
            sleep(rest + 2 * validity(quorum.response_timeout)).await;
            quorum.forget_at(members, Members::default(), &key, &id, lease);
        });
    }
}

/// How long to try again for after a member could not be reached.
const ROUND: Duration = Duration::from_secs(10);
/// The pause between two tries.
const PAUSE: Duration = Duration::from_secs(1);

/// Where a member is.
#[derive(Debug)]
pub(crate) enum Site {
    /// In this process.
    Memory(Arc<MemoryStore>),
    /// At a server, or a cluster.
    Redis(Box<RedisOptions>),
}

/// Connects to a majority by `deadline`, and to the other members in the background. After the majority it waits for the others for
/// `grace` at most.
pub(super) async fn open(
    sites: Vec<Site>,
    client: &ClientId,
    (deadline, grace): (Instant, Duration),
    response_timeout: Duration,
) -> Result<Arc<Quorum>, Error> {
    let roster = Arc::new(Roster::of(sites.len()));
    let members: Box<[_]> = (0..sites.len())
        .map(|number| Arc::new(Member::new(number, &roster)))
        .collect();
    let mut count = Count::of(members.len());
    let (mut elsewhere, mut reaching) = (Vec::new(), FuturesUnordered::new());
    for (member, site) in members.iter().zip(sites) {
        match site {
            Site::Memory(store) => {
                member.begin(Server::Memory(store));
                count.yes += 1;
            }
            Site::Redis(options) => {
                elsewhere.push((member, options.clone()));
                reaching
                    .push(async move { reach(member, *options, client, (deadline, grace)).await });
            }
        }
    }
    let mut until = deadline + grace;
    while let Ok(Some(reached)) = timeout_at(until, reaching.next()).await {
        match reached {
            Ok(()) => count.yes += 1,
            Err(error) if error.is_unavailable() || error.is_timeout() => count.failed(error),
            // An operator has to fix this error, so the start reports it.
            Err(error) => return Err(error),
        }
        if count.is_yes() {
            until = until.min(Instant::now() + grace);
        }
    }
    if !count.is_yes() {
        return Err(count.into_error().0);
    }
    drop(reaching);
    for (member, options) in elsewhere {
        if member.server().is_none() {
            let member = Arc::downgrade(member);
            Place::own().spawn(reach_later(member, options, client.clone()));
        }
    }
    // A name of its own for attempts: no hold is called by that of the client.
    let name = client.as_str().split('/').next().unwrap_or_default();
    let attempts = ClientId::new(name);
    Ok(Arc::new(Quorum::new(
        (members, roster),
        attempts,
        response_timeout,
    )))
}

/// Connects to a member, and makes sure that it is no other member.
async fn reach(
    member: &Member,
    options: RedisOptions,
    client: &ClientId,
    (deadline, grace): (Instant, Duration),
) -> Result<(), Error> {
    let seeds = options.clone();
    let connecting = async {
        let store = RedisStore::connect(options, client, deadline).await?;
        member.admit(&store, deadline).await?;
        member.begin(Server::Redis(store));
        Ok(())
    };
    // A replica is none that locks can be on, and may be that of another member.
    let doubting = async {
        sleep(grace / 2).await;
        let found = RedisStore::identify_seeds(seeds, client, Instant::now() + grace).await;
        let mut found = found.into_iter();
        found.try_for_each(|(_, marks)| member.roster.check(member.number, &marks))
    };
    match select(pin!(connecting), pin!(doubting)).await {
        Either::Left((reached, _)) => reached,
        Either::Right((Err(error), _)) => Err(error),
        Either::Right((Ok(()), connecting)) => connecting.await,
    }
}

/// Tries until the member answers, or the quorum is dropped.
async fn reach_later(member: Weak<Member>, options: Box<RedisOptions>, client: ClientId) {
    loop {
        let deadline = Instant::now() + ROUND;
        let reached = RedisStore::connect((*options).clone(), &client, deadline).await;
        let Some(member) = member.upgrade().filter(|member| !member.is_closed()) else {
            return;
        };
        let admitted = match &reached {
            Ok(store) => member.admit(store, Instant::now() + PAUSE).await,
            Err(error) => Err(error.clone()),
        };
        match (reached, admitted) {
            (Ok(store), Ok(())) => {
                member.begin(Server::Redis(store));
                member.roster.changed.notify_waiters();
                return;
            }
            (_, Err(error)) => member.in_trouble(error),
            (Err(_), Ok(())) => {}
        }
        drop(member);
        sleep(PAUSE).await;
    }
}
