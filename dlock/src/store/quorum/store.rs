//! The store: what is asked for, and which way it goes.

use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt, stream};

use super::attempt::{Outcome, Want};
use super::contention::{Tries, aside};
use super::fan::{answer, merge, merge_certain};
use super::ledger::Entry;
use super::quorum::{Quorum, Site, open};
use super::rounds::attempt;
use crate::clock::{BootInstant, Instant, sleep, sleep_until};
use crate::error::{Error, ErrorKind};
use crate::key::LockKey;
use crate::kind::LockMode;
use crate::protocol::{ClientId, Extent, HoldId, LockInfo, Op, Reply, Stray};
use crate::store::{Answer, ScriptLoad};

/// How often a caller that does not wait tries a lock that seems free.
const TRIES: u32 = 6;
/// How many operations of a batch are under way at the same time.
const ABREAST: usize = 64;
/// How often a shutdown looks whether attempts are over.
const BRIEFLY: Duration = Duration::from_millis(2);

/// Locks on a majority of several servers.
#[derive(Debug)]
pub(crate) struct QuorumStore {
    quorum: Arc<Quorum>,
}

impl QuorumStore {
    /// Reaches a majority of the members by `deadline`, and takes no longer than `grace` for the others.
    pub(crate) async fn open(
        sites: Vec<Site>,
        client: &ClientId,
        (deadline, grace): (Instant, Duration),
        response_timeout: Duration,
    ) -> Result<Self, Error> {
        let quorum = open(sites, client, (deadline, grace), response_timeout).await?;
        Ok(Self { quorum })
    }

    /// Carries out an operation on a lock; an error if no majority has answered by `deadline`.
    pub(crate) async fn call(
        &self,
        key: &LockKey,
        op: &Op,
        deadline: Instant,
    ) -> Result<Answer, Error> {
        let quorum = &self.quorum;
        match op {
            Op::Acquire {
                mode,
                lease,
                owner,
                place,
                ..
            } => {
                let want = Want {
                    key: key.clone(),
                    entry: Entry::new(*mode, *lease, owner.clone()),
                };
                self.acquire(&want, place.is_some(), deadline).await
            }
            Op::Renew {
                hold,
                lease,
                extent: Extent::Longer,
            } => quorum.renew(key, hold, *lease, deadline).await,
            Op::Abandon { hold, .. } if *hold.client() != quorum.client => {
                Ok(quorum.undone(deadline).await)
            }
            Op::Release { hold, .. } | Op::Abandon { hold, .. } | Op::Renew { hold, .. } => {
                quorum.end(key, hold, op, deadline).await
            }
            Op::Yield {
                hold, lease, stray, ..
            } => self.step_aside(key, hold, (*lease, *stray), deadline).await,
            Op::Inspect => {
                let sent_at = BootInstant::now();
                let infos = self.inspect(key, deadline).await?;
                let info = merge(infos, quorum.members.len());
                Ok(answer(Reply::Info(info), sent_at))
            }
            Op::Raise { .. } => Err(Error::new(
                ErrorKind::Server,
                "a quorum takes over no tokens of others",
            )),
        }
    }

    /// Runs until the lock is granted, or another client holds it.
    async fn acquire(&self, want: &Want, waits: bool, deadline: Instant) -> Result<Answer, Error> {
        let (quorum, slot) = (&self.quorum, want.key.slot());
        let mut tries = Tries::new(quorum.patience(want.entry.lease), deadline);
        let mut refusals = 0;
        loop {
            tries.begin();
            let begun = BootInstant::now();
            // A caller that does not wait gets the answer of a majority.
            let meets = waits && quorum.pauses.is_crowded(slot);
            let (held, took) = match attempt(quorum, want, meets, deadline).await {
                Outcome::Won { id, token, sent_at } => {
                    return Ok(answer(Reply::GrantedAs(id, token), sent_at));
                }
                Outcome::Unanswered { error, hopeless } => {
                    tries.again(error, hopeless).await?;
                    continue;
                }
                Outcome::Lost {
                    held,
                    took,
                    holding,
                } => {
                    let holding = holding.filter(|_| held);
                    quorum.pauses.met(slot, held, holding);
                    (held, took)
                }
            };
            refusals += 1;
            let retry = if held {
                quorum.pauses.while_held(slot, took)
            } else {
                quorum.pauses.after_collision(slot, took)
            };
            if waits {
                if self.would_deadlock(want, deadline).await {
                    return Ok(answer(Reply::WouldDeadlock, begun));
                }
                let (last, now) = (None, 0);
                return Ok(answer(Reply::Queued { retry, last, now }, begun));
            }
            if held || refusals == TRIES || Instant::now() + retry >= deadline {
                return Ok(answer(Reply::Busy(retry), begun));
            }
            sleep(retry).await;
        }
    }

    /// Whether an owner that reads would wait for other readers, while one of them may wait for this owner.
    async fn would_deadlock(&self, want: &Want, deadline: Instant) -> bool {
        let Some(owner) = want.entry.owner.as_deref() else {
            return false;
        };
        if want.entry.mode != LockMode::Write {
            return false;
        }
        let Ok(infos) = self.inspect(&want.key, deadline).await else {
            return false;
        };
        let info = merge_certain(infos, self.quorum.members.len());
        let is_own = |own: &Option<String>| own.as_deref() == Some(owner);
        let reads = |mode: LockMode| mode == LockMode::Read;
        info.holders
            .iter()
            .any(|hold| is_own(&hold.owner) && reads(hold.mode))
            && info.holders.iter().any(|hold| !is_own(&hold.owner))
    }

    /// Lets other clients try at the end of a slice. A quorum does not know whether any client waits.
    async fn step_aside(
        &self,
        key: &LockKey,
        hold: &HoldId,
        (lease, stray): (Duration, Stray),
        deadline: Instant,
    ) -> Result<Answer, Error> {
        let mode = self.quorum.ledger.get(hold).map(|entry| entry.mode);
        if mode == Some(LockMode::Read) {
            return Ok(answer(Reply::Done, BootInstant::now()));
        }
        let release = Op::Release {
            hold: hold.clone(),
            lease,
            stray,
            spent: None,
        };
        let answer = self.quorum.end(key, hold, &release, deadline).await?;
        if let Some(pause) = aside() {
            sleep_until(deadline.min(Instant::now() + pause)).await;
        }
        Ok(answer)
    }

    /// For how long to stay away from a mutex that was given back: as from other locks.
    pub(crate) fn aside() -> Option<Duration> {
        aside()
    }

    async fn inspect(&self, key: &LockKey, deadline: Instant) -> Result<Vec<LockInfo>, Error> {
        let infos = self
            .quorum
            .poll(Some(key.slot()), deadline, |member, until| {
                let key = key.clone();
                async move {
                    match member.call(&key, &Op::Inspect, until).await?.reply {
                        Reply::Info(info) => Ok(info),
                        _ => Err(Error::unexpected_reply(key.name())),
                    }
                }
            });
        infos.await
    }

    /// Carries out many operations, and tells of each by its place in the batch.
    pub(crate) async fn call_batch(
        &self,
        batch: &[(LockKey, Op)],
        deadline: Instant,
        mut tell: impl FnMut(usize, Result<Answer, Error>),
    ) {
        let mut answers = stream::iter(0..batch.len())
            .map(|index| async move {
                let (key, op) = &batch[index];
                (index, self.call(key, op, deadline).await)
            })
            .buffer_unordered(ABREAST);
        while let Some((index, answer)) = answers.next().await {
            tell(index, answer);
        }
    }

    /// The keys of all locks that start with `stem`, at any member.
    pub(crate) async fn keys(&self, stem: &str, deadline: Instant) -> Result<Vec<String>, Error> {
        let keys = self.quorum.poll(None, deadline, |member, until| {
            let stem = stem.to_owned();
            async move { member.keys(&stem, until).await }
        });
        let mut keys = keys.await?.concat();
        keys.sort_unstable();
        keys.dedup();
        Ok(keys)
    }

    /// What all members together have done so far.
    pub(crate) async fn script_load(&self, deadline: Instant) -> Result<ScriptLoad, Error> {
        let loads = self
            .quorum
            .poll(None, deadline, |member, until| async move {
                member.script_load(until).await
            });
        let mut sum = ScriptLoad::default();
        for load in loads.await? {
            sum.servers += load.servers;
            sum.calls += load.calls;
            sum.micros += load.micros;
        }
        Ok(sum)
    }

    /// Ends the background tasks and closes the connections, once pending messages have been sent to the members that answer.
    pub(crate) async fn shutdown(&self) {
        let until = Instant::now() + self.quorum.response_timeout;
        // Lost attempts still wait for their answers.
        while self.quorum.ledger.has_attempts() && Instant::now() < until {
            sleep(BRIEFLY).await;
        }
        let until = Instant::now() + self.quorum.response_timeout;
        self.quorum.undone(until).await;
        for member in &self.quorum.members {
            member.shutdown().await;
        }
    }
}
