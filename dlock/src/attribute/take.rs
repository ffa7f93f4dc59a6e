//! What a call wants of its locks, and how it takes one of them, or several: all or none.

use std::time::Duration;

use futures_util::future::join_all;

use super::context::{holds_any, reenter};
use super::owned::{Owned, OwnedLocks};
use super::{CallGuard, Grant};
use crate::lock::{Handle, Share, Wait};
use crate::{Client, Error, ErrorKind, LockKind, LockMode, testing};

/// The arguments of the attribute that are the same for each of its locks.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    pub(super) kind: LockKind,
    pub(super) mode: LockMode,
    pub(super) lease: Option<Duration>,
    pub(super) max_hold: Option<Duration>,
    pub(super) min_hold: Option<Duration>,
    pub(super) linger: Option<Duration>,
    pub(super) wait: Wait,
    pub(super) cancel: bool,
}

impl Wanted {
    pub(super) fn lock(
        &self,
        client: &Client,
        name: &str,
        label: &'static str,
    ) -> Result<Handle, Error> {
        let mut lock = client.handle(self.kind, name)?.label(label);
        if let Some(lease) = self.lease {
            lock = lock.lease(lease);
        }
        if let Some(max_hold) = self.max_hold {
            lock = lock.max_hold(max_hold);
        }
        if let Some(min_hold) = self.min_hold {
            lock = lock.min_hold(min_hold);
        }
        if let Some(linger) = self.linger {
            lock = lock.linger(linger);
        }
        Ok(lock)
    }

    /// Whether the running task's own locks answer for all of `names`, if only with a refusal: then no server is asked.
    pub(super) fn enters<'a>(
        &self,
        client: &Client,
        names: impl IntoIterator<Item = &'a str>,
    ) -> bool {
        let enters = |name| {
            let lock = client.handle(self.kind, name)?;
            reenter(client, lock.key(), self.mode)
        };
        names
            .into_iter()
            .all(|name| holds_any() && !matches!(enters(name), Ok(None)))
    }

    /// One lock, or an error if it is not had within `wait`.
    pub(super) async fn take(&self, lock: &Handle, wait: Wait) -> Result<Share, Error> {
        let share = lock.acquire(self.mode, wait).await?;
        share.ok_or_else(|| busy(lock))
    }

    /// One lock if it is free.
    pub(super) async fn try_take(&self, lock: &Handle) -> Result<Option<Share>, Error> {
        lock.acquire(self.mode, Wait::No).await
    }
}

fn busy(lock: &Handle) -> Error {
    Error::new(
        ErrorKind::Busy,
        format!(
            "lock `{}` is held by another caller; set `wait` to a duration to queue for it",
            lock.key().name()
        ),
    )
}

/// Takes the locks called `names`, each once, even if it is spelled in two ways (`a` and `{a}`).
///
/// First it requests all of them at once, which costs one round trip however many there are. Then it waits for the
/// locks that are not free, one after the other, in an order that all clients share. It holds no lock that comes later
/// in that order, so no two calls can wait for each other.
pub(super) async fn take_all(
    client: Client,
    names: Vec<(String, &'static str)>,
    wanted: &Wanted,
) -> Result<Grant<Vec<CallGuard>>, Error> {
    let written: Vec<Handle> = names
        .iter()
        .map(|(name, label)| wanted.lock(&client, name, label))
        .collect::<Result<_, _>>()?;
    let mut sorted: Vec<&Handle> = written.iter().collect();
    // By key: one lock may go by several names.
    sorted.sort_unstable_by_key(|lock| lock.key().as_str());
    sorted.dedup_by_key(|lock| lock.key().as_str());

    let mut held = Vec::with_capacity(sorted.len());
    let mut missing = Vec::with_capacity(sorted.len());
    for lock in sorted {
        match reenter(&client, lock.key(), wanted.mode)? {
            Some(again) => held.push(again),
            None => missing.push(lock),
        }
    }
    let shares = take_missing(&missing, wanted).await?;
    // What was had first may have been lost while the others were waited for.
    held.iter().try_for_each(CallGuard::check)?;
    shares.iter().try_for_each(|share| share.hold().check())?;
    let mut owned = OwnedLocks::default();
    let mut taken_last = None;
    for share in shares {
        let taken = Owned::new(&client, share, taken_last);
        taken_last = Some(taken.held().clone());
        held.push(taken.held().clone());
        owned.push(taken);
    }
    for (name, label) in &names {
        testing::note(name, label, wanted.kind, wanted.mode);
    }
    let innermost = taken_last.or_else(|| held.last().cloned());
    let as_written = written
        .iter()
        .filter_map(|lock| held.iter().find(|held| held.key() == lock.key()).cloned())
        .collect();
    Ok(Grant::new(
        as_written,
        innermost,
        owned,
        client,
        wanted.cancel,
    ))
}

async fn take_missing(locks: &[&Handle], wanted: &Wanted) -> Result<Vec<Share>, Error> {
    let wait = wanted.wait.begin();
    let mut shares = if locks.len() > 1 {
        take_free(locks, wanted).await?
    } else {
        Vec::new()
    };
    for lock in &locks[shares.len()..] {
        shares.push(wanted.take(lock, wait).await?);
    }
    Ok(shares)
}

/// The locks before the first that is not free.
async fn take_free(locks: &[&Handle], wanted: &Wanted) -> Result<Vec<Share>, Error> {
    let asked = join_all(locks.iter().map(|lock| wanted.try_take(lock))).await;
    let taken: Vec<Option<Share>> = asked.into_iter().collect::<Result<_, _>>()?;
    let free = taken.iter().take_while(|share| share.is_some()).count();
    if free < locks.len() && !wanted.wait.may_wait() {
        return Err(busy(locks[free]));
    }
    let mut shares: Vec<Share> = Vec::with_capacity(locks.len());
    let mut out_of_order = Vec::new();
    for (at, share) in taken.into_iter().enumerate() {
        if at < free {
            shares.extend(share);
        } else {
            out_of_order.extend(share);
        }
    }
    for released in join_all(out_of_order.into_iter().map(Share::release)).await {
        released?;
    }
    Ok(shares)
}
