//! A storm passes: some time after the fault that raised it, servers have as little to do as before and locks are granted as
//! often. And while one server of a quorum is away, the others grant nearly as often as all of them did.

use super::Judges;
use crate::engine::{Engine, MS, Nanos, SECOND};
use crate::history::Kind;
use crate::plan::{Demands, Profile, WINDOW};
use crate::server::NodeId;

/// How much longer servers may be busy than before, in thousandths; and how much of the time that is anything but a storm.
const BUSIER: Nanos = 1200;
const IDLE: Nanos = WINDOW / 20;

/// How many grants a rate is taken from.
const FEW: u64 = 40;

/// How long a client takes to see that a server is away.
const SEEN: Nanos = SECOND;

/// What has happened by some time.
#[derive(Debug, Clone, Copy)]
struct Tally {
    at: Nanos,
    grants: u64,
    worked: Nanos,
}

/// The load of servers, and when it was disturbed.
#[derive(Debug)]
pub(super) struct Load {
    demands: Demands,
    tallies: Vec<Tally>,
    grants: u64,
    servers: u64,
    began: Option<Nanos>,
    over: Option<Nanos>,
    away_is_judged: bool,
    is_judged: bool,
}

impl Load {
    pub(super) fn new(demands: Demands) -> Self {
        Self {
            demands,
            tallies: Vec::new(),
            grants: 0,
            servers: 0,
            began: None,
            over: None,
            away_is_judged: false,
            is_judged: false,
        }
    }

    /// A task was granted a lock.
    pub(super) fn granted(&mut self) {
        self.grants += 1;
    }

    /// A fault begins.
    pub(super) fn begins(&mut self, now: Nanos) {
        self.began.get_or_insert(now);
    }

    /// No fault is at work any more.
    pub(super) fn is_over(&mut self, now: Nanos) {
        self.over = Some(now);
    }

    /// What happened in between.
    fn between(&self, from: Nanos, to: Nanos) -> Tally {
        let by = |at: Nanos| {
            let after = self.tallies.partition_point(|tally| tally.at <= at);
            self.tallies[after.saturating_sub(1)]
        };
        let (from, to) = (by(from), by(to));
        Tally {
            at: to.at - from.at,
            grants: to.grants - from.grants,
            worked: to.worked - from.worked,
        }
    }

    fn judge(&mut self, now: Nanos) -> Option<String> {
        let (began, over) = (self.began?, self.over?);
        let before = self.between(began.saturating_sub(WINDOW), began);
        let rest = self
            .demands
            .at_rest
            .map(|at_rest| self.servers * Nanos::from(at_rest) * WINDOW / 1000);
        let rest = rest.unwrap_or(before.worked);
        let busy = |tally: Tally| {
            (tally.worked > rest * BUSIER / 1000 + IDLE).then(|| {
                let [is, rest] = [tally.worked, rest].map(|worked| worked / MS);
                format!("servers are busy for {is} ms, and at rest for {rest} ms")
            })
        };
        if let Some(wrong) = busy(before) {
            return Some(format!("long after the start {wrong}"));
        }
        if !std::mem::replace(&mut self.away_is_judged, true) {
            let away = self.between(began + SEEN, over);
            let long = over > began + 2 * SEEN;
            let wrong = long.then(|| fewer(before, away, self.demands.grants[1]));
            if let Some(wrong) = wrong.flatten() {
                return Some(format!("while a server was away {wrong}"));
            }
        }
        if self.is_judged || now < over + self.demands.recovery + WINDOW {
            return None;
        }
        self.is_judged = true;
        let after = self.between(now - WINDOW, now);
        if let Some(wrong) = fewer(before, after, self.demands.grants[0]) {
            return Some(format!("long after a fault {wrong}"));
        }
        let wrong = busy(after)?;
        Some(format!("long after a fault {wrong}"))
    }
}

/// Whether fewer were granted than so many of a thousand, in the same time.
fn fewer(before: Tally, after: Tally, of_thousand: u32) -> Option<String> {
    if of_thousand == 0 || before.grants < FEW {
        return None;
    }
    let [was, is] = [before, after].map(|tally| tally.grants * SECOND / tally.at.max(1));
    (is * 1000 < was * u64::from(of_thousand))
        .then(|| format!("there are {is} grants a second, and before there were {was}"))
}

impl Judges {
    /// How servers do, again and again.
    pub(crate) fn look_at_load(&self, engine: &Engine) {
        let mut load = self.load.borrow_mut();
        if !matches!(load.demands.profile, Profile::Storm | Profile::Members) {
            return;
        }
        let now = engine.now();
        let nodes: Vec<NodeId> = engine.fleet(|fleet| fleet.nodes().collect());
        let tally = Tally {
            at: now,
            grants: load.grants,
            worked: nodes.iter().map(|node| engine.worked(*node)).sum(),
        };
        if let Some(last) = load.tallies.last()
            && last.at / SECOND < now / SECOND
        {
            let (grants, worked) = (tally.grants, tally.worked / MS);
            engine.tell(Kind::Judge, || {
                format!("{grants} grants so far, servers were busy for {worked} ms")
            });
        }
        load.tallies.push(tally);
        load.servers = nodes.len() as u64;
        if now < load.demands.ends
            && let Some(wrong) = load.judge(now)
        {
            self.object("collapse", now, wrong);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{FEW, Load, Tally, WINDOW};
    use crate::engine::{MS, Nanos, SECOND};
    use crate::plan::{Demands, Profile};

    /// A fault at ten seconds; what was done in each tenth of a second before and after.
    fn load(before: (u64, Nanos), after: (u64, Nanos)) -> Load {
        let mut load = Load::new(Demands {
            profile: Profile::Storm,
            grants: [800, 0],
            ..Demands::default()
        });
        let mut tally = Tally {
            at: 0,
            grants: 0,
            worked: 0,
        };
        for tenth in 1..=250_u64 {
            let (grants, worked) = if tenth <= 100 { before } else { after };
            tally.at = tenth * SECOND / 10;
            tally.grants += grants;
            tally.worked += worked;
            load.tallies.push(tally);
        }
        load.begins(10 * SECOND);
        load.is_over(10 * SECOND);
        load
    }

    #[test]
    fn it_is_judged_once_when_the_storm_must_have_passed() {
        let now = 13 * SECOND + WINDOW;
        let judged = |before, after| load(before, after).judge(now).is_some();
        assert!(!judged((10, 25 * MS), (8, 29 * MS)));
        assert!(judged((10, 25 * MS), (7, 25 * MS)), "few grants");
        assert!(judged((10, 25 * MS), (10, 40 * MS)), "busy servers");
        assert!(!judged((FEW / 50, MS), (0, MS)), "too few to tell");
        let mut early = load((10, 25 * MS), (0, 90 * MS));
        assert_eq!(early.judge(now - SECOND), None);
    }
}
