//! Finding the members.

use std::pin::pin;
use std::sync::{Arc, Weak};
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::future::{Either, select};
use futures_util::stream::FuturesUnordered;

use super::count::Count;
use super::member::Member;
use super::member::Server;
use super::members::Roster;
use super::quorum::Quorum;
use crate::clock::{Instant, sleep, timeout_at};
use crate::error::Error;
use crate::protocol::ClientId;
use crate::store::{MemoryStore, RedisOptions, RedisStore};
use crate::tasks::Place;

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
