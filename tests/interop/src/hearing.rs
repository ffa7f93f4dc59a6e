//! The checker's side of a connection: a process reports what it does and waits for an answer, a line each.
//!
//! | report | answer |
//! |---|---|
//! | `hello SLOT VERSION` | `ok` |
//! | `ask`: the process is about to ask for the lock | `ok`, or `end` |
//! | `enter TOKEN UNTIL [FENCE]`: it has the lock at least until then; with a fencing token, or 0 | `PLAN MICROSECONDS` |
//! | `extended UNTIL` | `ok` |
//! | `leave`: the process is about to release | `ok` |
//! | `released`, `refused` | `ok` |
//! | `stale released`, `stale refused`: it has tried to change a hold that it no longer has | `ok` |
//! | `rest` | `rest MICROSECONDS` |
//!
//! Plans are `plain`: work and release; `extend`: work three times as long, and extend the hold each time; `again`: release
//! twice, and a hold that never was; `late`: extend first, though the lease is over.

use std::{str::FromStr, sync::Arc, time::Duration};

use tokio::{net::TcpStream, time::sleep};

use crate::{
    clock::Moment,
    court::{Process, Release},
    figures::Count,
    incident::Deed,
    side::Side,
    trial::Trial,
    wire::Wire,
};

/// How often a process extends its hold by the plan `extend`.
const EXTENSIONS: u32 = 3;

/// One process, as the checker knows it.
struct Hearing {
    trial: Arc<Trial>,
    slot: usize,
    side: Side,
    process: Process,
    token: String,
    /// After how many more extensions it is to be killed, if at all.
    doom: Option<u32>,
}

/// Listens to a process until it ends, in whatever way.
pub(crate) async fn hear(trial: Arc<Trial>, stream: TcpStream) -> Option<()> {
    let mut wire = Wire::new(stream);
    let hello = wire.receive().await?;
    let words: Vec<&str> = hello.split(' ').collect();
    let ["hello", slot, version] = words[..] else {
        return None;
    };
    let slot: usize = parse(slot);
    let side = trial.fleet[slot].side;
    let process = trial.state.lock().admit(side, version);
    let mut hearing = Hearing {
        trial,
        slot,
        side,
        process,
        token: String::new(),
        doom: None,
    };
    wire.send("ok").await?;
    loop {
        let said = wire.receive().await?;
        let words: Vec<&str> = said.split(' ').collect();
        let answer = hearing.on(&words).await?;
        wire.send(&answer).await?;
    }
}

impl Hearing {
    /// The answer; `None` when the process is no more.
    async fn on(&mut self, words: &[&str]) -> Option<String> {
        match *words {
            ["ask"] => return Some(self.ask()),
            ["enter", token, until, ref fence @ ..] => {
                let fence = fence.first().map_or(0, |fence| parse(fence));
                return self.enter(token, parse(until), fence).await;
            }
            ["extended", until] => self.extended(parse(until)),
            ["leave"] => {
                self.trial.look().await;
                self.trial.state.lock().court.leave(self.process);
            }
            ["released"] => self.released(Release::Done),
            ["refused"] => self.released(Release::Refused),
            ["stale", "released"] => self.trial.state.lock().court.not_refused(self.process),
            ["stale", "refused"] => self.refused(),
            ["rest"] => return Some(format!("rest {}", self.trial.options.rest())),
            _ => panic!("{} said {words:?}", self.side),
        }
        self.trial.look().await;
        if self.doom == Some(0) {
            return self.kill();
        }
        Some("ok".to_owned())
    }

    fn ask(&mut self) -> String {
        if self.trial.is_over() {
            return "end".to_owned();
        }
        let waits = Some((self.process, Moment::now()));
        self.trial.state.lock().waiting[self.slot] = waits;
        "ok".to_owned()
    }

    async fn enter(&mut self, token: &str, until: Moment, fence: u64) -> Option<String> {
        token.clone_into(&mut self.token);
        let deed = self.record(until, fence);
        self.trial.look().await;
        match deed {
            None => Some(plan()),
            Some(Deed::KillExtended) => {
                self.doom = Some(EXTENSIONS);
                let half = self.trial.options.lease / 2;
                Some(format!("extend {}", half.as_micros()))
            }
            Some(Deed::Freeze) => {
                self.freeze(until).await;
                Some("late 1000".to_owned())
            }
            Some(Deed::KillHolding | Deed::KillWaiting) => self.kill(),
        }
    }

    /// Records a hold that has begun; returns the fault that is due for its process.
    fn record(&self, until: Moment, fence: u64) -> Option<Deed> {
        let (now, mut state) = (Moment::now(), self.trial.state.lock());
        state.court.enter(self.process, &self.token, until, now);
        if fence > 0 {
            state.court.fenced(self.process, fence);
            state.figures.fenced(fence);
        }
        if self.trial.is_over() {
            return None;
        }
        let waited = state.waiting[self.slot].take_if(|(process, _)| *process == self.process);
        if let Some((_, since)) = waited {
            state.figures.grant(self.side, now.since(since), now);
        }
        state.docket.take(self.side)
    }

    /// The lease has moved, so the rules are those for a hold that begins.
    fn extended(&mut self, until: Moment) {
        let (now, mut state) = (Moment::now(), self.trial.state.lock());
        state.court.enter(self.process, &self.token, until, now);
        state.figures.count(self.side, Count::Extended);
        self.doom = self.doom.map(|left| left - 1);
    }

    fn released(&mut self, release: Release) {
        let mut state = self.trial.state.lock();
        // It may have lost the hold that it was to be killed with.
        if self.doom.take().is_some() {
            state.docket.finish();
        }
        state.court.released(self.process, release);
        drop(state);
        if release == Release::Refused {
            self.refused();
        }
    }

    fn refused(&self) {
        let mut state = self.trial.state.lock();
        state.figures.count(self.side, Count::Refused);
    }

    /// There is nothing to answer afterwards.
    fn kill(&self) -> Option<String> {
        self.trial.fleet[self.slot].replace();
        let mut state = self.trial.state.lock();
        state.done(self.side, Count::KilledHolding);
        None
    }

    /// Until another process has the lock, or could have had it for a lease.
    async fn freeze(&self, until: Moment) {
        self.trial.fleet[self.slot].worker.lock().pause();
        let enough = until.after(self.trial.options.lease);
        while !self.trial.state.lock().court.is_overtaken(self.process) && Moment::now() < enough {
            sleep(Duration::from_millis(1)).await;
        }
        self.trial.fleet[self.slot].worker.lock().resume();
        self.trial.state.lock().done(self.side, Count::Frozen);
    }
}

fn parse<T: FromStr>(text: &str) -> T {
    let value = text.parse().ok();
    value.expect("processes report numbers, and moments in nanoseconds")
}

/// What a process is to do with its hold, and for how long.
fn plan() -> String {
    let held = match fastrand::u32(..100) {
        0..10 => 50_000,
        _ => fastrand::u32(1_000..=5_000),
    };
    match fastrand::u32(..100) {
        0..5 => format!("extend {held}"),
        5..15 => format!("again {held}"),
        _ => format!("plain {held}"),
    }
}
