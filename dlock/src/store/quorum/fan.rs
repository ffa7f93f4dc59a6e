//! An operation on a hold, sent to all members that may have it; questions to all members, and what their answers come to.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;

use super::contention::Tries;
use super::member::{Asking, Member};
use super::members::{Count, Members, majority};
use super::quorum::{ORIGIN, Quorum};
use crate::clock::{BootInstant, Instant, timeout_at};
use crate::error::Error;
use crate::key::LockKey;
use crate::protocol::{HoldId, HoldInfo, LockInfo, Reply};
use crate::slot::Slot;
use crate::store::Answer;

/// How often to look whether the members that have not answered are down.
const LOOK: Duration = Duration::from_millis(100);

/// Requests under way, and what they have come to so far.
pub(super) struct Fan {
    pub(super) quorum: Arc<Quorum>,
    pub(super) key: LockKey,
    pub(super) id: HoldId,
    requests: FuturesUnordered<Asking<Result<Answer, Error>>>,
    pub(super) count: Count,
    /// The members that have not answered.
    pub(super) silent: Members,
    /// The members that have the hold no more.
    pub(super) without: Members,
    /// How many have answered that they do not have it, although they had.
    denied: usize,
    /// Members that may never have had the hold.
    pub(super) doubtful: Members,
    /// Whether the operation ends the hold.
    ends: bool,
    pub(super) sent_at: BootInstant,
}

impl Fan {
    pub(super) fn new(quorum: &Arc<Quorum>, key: &LockKey, id: &HoldId, ends: bool) -> Self {
        Self {
            quorum: Arc::clone(quorum),
            key: key.clone(),
            id: id.clone(),
            requests: FuturesUnordered::new(),
            count: Count::of(quorum.members.len()),
            silent: Members::default(),
            without: Members::default(),
            denied: 0,
            doubtful: Members::default(),
            ends,
            sent_at: BootInstant::now(),
        }
    }

    /// A member is asked.
    pub(super) fn ask(&mut self, member: usize, asking: Asking<Result<Answer, Error>>) {
        self.silent.put(member);
        self.requests.push(asking);
    }

    /// A member is not asked, as it has nothing to do with the hold.
    pub(super) fn pass_by(&mut self, member: usize) {
        self.count.no += 1;
        self.without.put(member);
    }

    /// A member would have to be asked, and does not answer.
    pub(super) fn give_up_on(&mut self, member: usize, error: Error) {
        self.silent.put(member);
        self.count.failed(error);
    }

    /// The next answer; whether there was one more.
    pub(super) async fn hear(&mut self) -> bool {
        let Some((member, outcome)) = self.requests.next().await else {
            return false;
        };
        match outcome {
            Ok(answer) => {
                self.silent.take(member);
                // An earlier copy of what ends a hold may have ended it.
                let is_done = answer.reply != Reply::Gone || self.ends && answer.resent;
                if is_done {
                    self.count.yes += 1;
                } else {
                    self.count.no += 1;
                    self.denied += usize::from(!self.doubtful.has(member));
                    self.without.put(member);
                }
            }
            Err(error) => self.count.failed(error),
        }
        true
    }

    /// What the answers come to, as soon as that is certain.
    pub(super) async fn decide(&mut self) -> Option<Reply> {
        loop {
            if self.count.is_yes() {
                return Some(Reply::Done);
            }
            if self.count.is_no() {
                return Some(Reply::Gone);
            }
            let look = Instant::now() + LOOK;
            match timeout_at(look, self.hear()).await {
                Ok(false) => return self.is_over().then_some(Reply::Done),
                Err(_) if self.is_over() && self.silent_are_down() => return Some(Reply::Done),
                Ok(true) | Err(_) => {}
            }
        }
    }

    /// Whether an end has reached so many that the others are no majority, and none has denied the hold: its holder knows from
    /// its own lease that it had it.
    fn is_over(&self) -> bool {
        self.ends
            && self.denied == 0
            && self.count.yes > 0
            && self.silent.count() < majority(self.quorum.members.len())
    }

    fn silent_are_down(&self) -> bool {
        let slot = self.key.slot();
        let mut silent = self.silent.iter();
        silent.all(|number| !self.quorum.members[number].is_fit(slot))
    }

    /// The answer of the quorum.
    pub(super) fn answer(&mut self, reply: Option<Reply>) -> Result<Answer, Error> {
        let members = self.quorum.members.len();
        let count = std::mem::replace(&mut self.count, Count::of(members));
        match reply {
            Some(reply) => Ok(answer(reply, self.sent_at)),
            None if self.ends => Err(count.into_release_error()),
            None => Err(count.into_error().0),
        }
    }
}

/// An answer for which no single server stands.
pub(super) fn answer(reply: Reply, sent_at: BootInstant) -> Answer {
    Answer {
        reply,
        from: ORIGIN,
        sent_at,
        resent: false,
    }
}

/// How long to wait for the others once a majority has answered.
const OTHERS: Duration = Duration::from_millis(50);

impl Quorum {
    /// The answers of the members, about one slot or all: of a majority at least, and of the other members that answer soon.
    pub(super) async fn poll<T: Send + 'static, F>(
        &self,
        slot: Option<Slot>,
        deadline: Instant,
        ask: impl Fn(Arc<Member>, Instant) -> F,
    ) -> Result<Vec<T>, Error>
    where
        F: Future<Output = Result<T, Error>> + Send + 'static,
    {
        let mut tries = Tries::new(self.response_timeout, deadline);
        loop {
            tries.begin();
            let (answers, count) = self.poll_once(slot, deadline, &ask).await;
            if count.is_answered() {
                return Ok(answers);
            }
            let (error, hopeless) = count.into_error();
            tries.again(error, hopeless).await?;
        }
    }

    async fn poll_once<T: Send + 'static, F>(
        &self,
        slot: Option<Slot>,
        deadline: Instant,
        ask: impl Fn(Arc<Member>, Instant) -> F,
    ) -> (Vec<T>, Count)
    where
        F: Future<Output = Result<T, Error>> + Send + 'static,
    {
        let mut until = deadline.min(Instant::now() + self.response_timeout);
        let mut count = Count::of(self.members.len());
        let mut asking = FuturesUnordered::<Asking<Result<T, Error>>>::new();
        for member in &self.members {
            if slot.map_or(member.server().is_some(), |slot| member.is_fit(slot)) {
                let (number, answer) = (member.number, ask(Arc::clone(member), until));
                asking.push(Box::pin(async move { (number, answer.await) }));
            } else {
                count.failed(member.excuse());
            }
        }
        let mut answers = Vec::new();
        while let Ok(Some((_, outcome))) = timeout_at(until, asking.next()).await {
            match outcome {
                Ok(answer) => {
                    answers.push(answer);
                    count.yes += 1;
                    if answers.len() == majority(self.members.len()) {
                        until = until.min(Instant::now() + OTHERS);
                    }
                }
                Err(error) => count.failed(error),
            }
        }
        (answers, count)
    }
}

/// The state of a lock, from the answers of some of so many members. A hold is shown if a majority may have it; a member that has
/// not answered may have it. A hold at fewer members is an attempt, or what is left of one.
pub(super) fn merge(infos: Vec<LockInfo>, members: usize) -> LockInfo {
    let unheard = members - infos.len();
    merge_at_least(
        infos,
        members,
        majority(members).saturating_sub(unheard).max(1),
    )
}

/// The state of a lock, with the holds that a majority certainly has.
pub(super) fn merge_certain(infos: Vec<LockInfo>, members: usize) -> LockInfo {
    merge_at_least(infos, members, majority(members))
}

fn merge_at_least(infos: Vec<LockInfo>, members: usize, least: usize) -> LockInfo {
    let mut merged = LockInfo::default();
    let mut holds = BTreeMap::<String, Vec<HoldInfo>>::new();
    for info in infos {
        merged.last_token = merged.last_token.max(info.last_token);
        merged.more_holders = merged.more_holders.max(info.more_holders);
        for hold in info.holders {
            holds.entry(hold.id.clone()).or_default().push(hold);
        }
    }
    let enough = holds.into_values().filter(|same| same.len() >= least);
    merged.holders = enough.map(|same| one(same, members)).collect();
    merged
}

/// One hold, as several members have recorded it. It is over when the last majority of them is.
fn one(mut same: Vec<HoldInfo>, members: usize) -> HoldInfo {
    same.sort_by_key(|hold| std::cmp::Reverse(hold.remaining));
    let decisive = majority(members).min(same.len()) - 1;
    let remaining = same[decisive].remaining;
    let token = same.iter().map(|hold| hold.token).max();
    let held_for = same.iter().map(|hold| hold.held_for).max();
    let mut hold = same.swap_remove(decisive);
    hold.remaining = remaining;
    hold.token = token.unwrap_or(hold.token);
    hold.held_for = held_for.unwrap_or(hold.held_for);
    hold
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{merge, merge_certain};
    use crate::kind::LockMode;
    use crate::protocol::{HoldInfo, LockInfo};
    use crate::token::FencingToken;

    fn info(holds: &[(&str, u64, u64)]) -> LockInfo {
        let holders = holds.iter().map(|(id, remaining, token)| HoldInfo {
            id: (*id).to_owned(),
            mode: LockMode::Write,
            remaining: Duration::from_secs(*remaining),
            token: Some(FencingToken::from_u64(*token)),
            held_for: Some(Duration::ZERO),
            owner: None,
        });
        LockInfo {
            holders: holders.collect(),
            ..LockInfo::default()
        }
    }

    #[test]
    fn a_hold_is_what_a_majority_has() {
        let infos = || {
            vec![
                info(&[("a", 5, 1)]),
                info(&[("a", 3, 2)]),
                info(&[("b", 9, 9)]),
                info(&[("a", 4, 1)]),
            ]
        };
        let all: Vec<_> = [infos(), vec![info(&[])]].concat();
        let merged = merge(all, 5);
        assert_eq!(merged.holders.len(), 1);
        let hold = &merged.holders[0];
        assert_eq!((&*hold.id, hold.remaining.as_secs()), ("a", 3));
        assert_eq!(hold.token, Some(FencingToken::from_u64(2)));
        // A member that has not answered may have the hold.
        assert_eq!(merge(infos()[..3].to_vec(), 5).holders.len(), 2);
        assert!(merge_certain(infos()[..3].to_vec(), 5).holders.is_empty());
    }
}
