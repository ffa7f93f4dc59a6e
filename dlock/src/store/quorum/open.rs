//! Finding the members.

use std::sync::{Arc, Weak};
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;

use super::count::Count;
use super::member::Member;
use super::quorum::Quorum;
use super::server::Server;
use crate::clock::{Instant, sleep, timeout_at};
use crate::error::Error;
use crate::protocol::ClientId;
use crate::store::{MemoryStore, RedisOptions, RedisStore};
use crate::tasks::Place;

/// How long to try again for after a member could not be reached.
const ROUND: Duration = Duration::from_secs(10);
/// Between those.
const PAUSE: Duration = Duration::from_secs(1);

/// Where a member is.
#[derive(Debug)]
pub(crate) enum Site {
    /// In this process.
    Memory(Arc<MemoryStore>),
    /// At a server, or a cluster.
    Redis(Box<RedisOptions>),
}

/// Reaches a majority by `deadline`, and the others in the background. Who is there takes no longer than `grace` behind the
/// majority.
pub(super) async fn open(
    sites: Vec<Site>,
    client: &ClientId,
    (deadline, grace): (Instant, Duration),
    response_timeout: Duration,
) -> Result<Arc<Quorum>, Error> {
    let members: Box<[_]> = (0..sites.len())
        .map(|number| Arc::new(Member::new(number)))
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
                reaching.push(async move {
                    let reached = RedisStore::connect(*options, client, deadline).await;
                    (member, reached)
                });
            }
        }
    }
    let mut until = deadline + grace;
    while let Ok(Some((member, reached))) = timeout_at(until, reaching.next()).await {
        match reached {
            Ok(store) => {
                member.begin(Server::Redis(store));
                count.yes += 1;
            }
            Err(error) if error.is_unavailable() || error.is_timeout() => count.failed(error),
            // What somebody has to mend had better be known at the start.
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
            Place::own().spawn(reach(member, options, client.clone()));
        }
    }
    // A name of its own for attempts: no hold is called by that of the client.
    let name = client.as_str().split('/').next().unwrap_or_default();
    let attempts = ClientId::new(name);
    Ok(Arc::new(Quorum::new(members, attempts, response_timeout)))
}

/// Tries until the member is there, or nobody wants it any more.
async fn reach(member: Weak<Member>, options: Box<RedisOptions>, client: ClientId) {
    loop {
        let deadline = Instant::now() + ROUND;
        let reached = RedisStore::connect((*options).clone(), &client, deadline).await;
        let Some(member) = member.upgrade().filter(|member| !member.is_closed()) else {
            return;
        };
        if let Ok(store) = reached {
            member.begin(Server::Redis(store));
            return;
        }
        drop(member);
        sleep(PAUSE).await;
    }
}
