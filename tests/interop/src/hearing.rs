//! A process' connection to the judge: it says what it does and waits for an answer, a line each.
//!
//! | it says | and is answered |
//! |---|---|
//! | `hello SLOT VERSION` | `ok` |
//! | `ask`: it is about to ask for the lock | `ok`, or `end` |
//! | `enter TOKEN UNTIL [FENCE]`: it has the lock until then at least; with a fencing token, or 0 | `PLAN MICROSECONDS` |
//! | `extended UNTIL` | `ok` |
//! | `leave`: it is about to release | `ok` |
//! | `released`, `refused` | `ok` |
//! | `stale released`, `stale refused`: it has tried to change what it has no more | `ok` |
//! | `rest` | `rest MICROSECONDS` |
//!
//! Plans are `plain`: work and release; `extend`: work three times as long, and extend the hold each time; `again`: release
//! twice, and what never was; `late`: extend first, as the lease is over.

use std::{sync::Arc, time::Duration};

use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines},
    net::{
        TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    time::sleep,
};

use crate::{
    clock::Moment,
    court::{Process, Release},
    incident::Deed,
    side::Side,
    trial::Trial,
};

/// One process, as the judge knows it.
struct Hearing {
    trial: Arc<Trial>,
    output: OwnedWriteHalf,
    slot: usize,
    side: Side,
    process: Process,
    token: String,
    /// Whether it is to be killed when it has extended its hold for the last time.
    doomed: bool,
    extensions: u32,
}

/// Hears a process until it ends, in whatever way.
pub(crate) async fn hear(trial: Arc<Trial>, stream: TcpStream) {
    stream.set_nodelay(true).expect("loopback takes that");
    let (input, output) = stream.into_split();
    let mut lines = BufReader::new(input).lines();
    let hello = line(&mut lines).await.unwrap_or_default();
    let words: Vec<&str> = hello.split(' ').collect();
    let ["hello", slot, version] = words[..] else {
        return;
    };
    let slot: usize = slot.parse().expect("a process knows its slot");
    let side = trial.fleet.side(slot);
    let process = {
        let mut state = trial.state();
        state.figures.version(side, version);
        state.admit()
    };
    let mut hearing = Hearing {
        trial,
        output,
        slot,
        side,
        process,
        token: String::new(),
        doomed: false,
        extensions: 0,
    };
    if hearing.answer("ok").await.is_none() {
        return;
    }
    while let Some(said) = line(&mut lines).await {
        let words: Vec<&str> = said.split(' ').collect();
        let Some(answer) = hearing.on(&words).await else {
            return;
        };
        if hearing.answer(&answer).await.is_none() {
            return;
        }
    }
}

/// `None` when the process is gone.
async fn line(lines: &mut Lines<BufReader<OwnedReadHalf>>) -> Option<String> {
    lines.next_line().await.ok().flatten()
}

impl Hearing {
    async fn answer(&mut self, text: &str) -> Option<()> {
        let line = format!("{text}\n");
        self.output.write_all(line.as_bytes()).await.ok()
    }

    /// The answer; `None` when the process is no more.
    async fn on(&mut self, words: &[&str]) -> Option<String> {
        match *words {
            ["ask"] => return Some(self.ask()),
            ["enter", token, until, ref fence @ ..] => {
                let fence = fence.first().map_or(0, |fence| number(fence));
                return self.enter(token, moment(until), fence).await;
            }
            ["extended", until] => self.extended(moment(until)).await?,
            ["leave"] => {
                self.trial.look().await;
                self.trial.state().court.leave(self.process);
            }
            ["released"] => self.released(Release::Done).await,
            ["refused"] => self.released(Release::Refused).await,
            ["stale", "released"] => {
                self.trial.state().court.not_refused(self.process);
            }
            ["stale", "refused"] => {
                self.trial.state().figures.refused(self.side);
                self.trial.look().await;
            }
            ["rest"] => return Some(format!("rest {}", self.trial.options.rest())),
            _ => panic!("{} said {words:?}", self.side),
        }
        Some("ok".to_owned())
    }

    fn ask(&mut self) -> String {
        if self.trial.is_over() {
            return "end".to_owned();
        }
        let waits = Some((self.process, Moment::now()));
        self.trial.state().waiting[self.slot] = waits;
        "ok".to_owned()
    }

    async fn enter(&mut self, token: &str, until: Moment, fence: u64) -> Option<String> {
        let deed = {
            let (now, mut state) = (Moment::now(), self.trial.state());
            token.clone_into(&mut self.token);
            state.court.enter(self.process, token, until, now);
            if fence > 0 {
                state.court.fenced(self.process, fence);
                state.figures.fenced(fence);
            }
            let waited = state.waiting[self.slot].take_if(|(process, _)| *process == self.process);
            if let Some((_, since)) = waited
                && !self.trial.is_over()
            {
                state.figures.grant(self.side, now.since(since), now);
            }
            let takes = !self.trial.is_over();
            takes.then(|| state.docket.take(self.side)).flatten()
        };
        self.trial.look().await;
        match deed {
            None => Some(plan()),
            Some(Deed::KillExtended) => {
                (self.doomed, self.extensions) = (true, 0);
                let half = self.trial.options.lease / 2;
                Some(format!("extend {}", half.as_micros()))
            }
            Some(Deed::Freeze) => {
                self.freeze(until).await;
                Some("late 1000".to_owned())
            }
            Some(Deed::KillHolding | Deed::KillWaiting) => {
                self.kill();
                None
            }
        }
    }

    /// The lease has moved, so the rules are those of who enters.
    async fn extended(&mut self, until: Moment) -> Option<()> {
        {
            let mut state = self.trial.state();
            let now = Moment::now();
            state.court.enter(self.process, &self.token, until, now);
            state.figures.extended(self.side);
        }
        self.trial.look().await;
        self.extensions += 1;
        if self.doomed && self.extensions == 3 {
            self.kill();
            return None;
        }
        Some(())
    }

    async fn released(&mut self, release: Release) {
        // It may have lost the hold that it was to be killed with.
        if std::mem::take(&mut self.doomed) {
            self.trial.state().docket.finish();
        }
        {
            let mut state = self.trial.state();
            state.court.released(self.process, release);
            if release == Release::Refused {
                state.figures.refused(self.side);
            }
        }
        self.trial.look().await;
    }

    fn kill(&self) {
        self.trial.fleet.replace(self.slot);
        let deed = if self.doomed {
            Deed::KillExtended
        } else {
            Deed::KillHolding
        };
        let mut state = self.trial.state();
        state.figures.done(self.side, deed);
        state.docket.finish();
    }

    /// Until another has the lock, or could have had it for a lease.
    async fn freeze(&self, until: Moment) {
        self.trial.fleet.pause(self.slot);
        let enough = until.after(self.trial.options.lease);
        while !self.trial.state().court.is_overtaken(self.process) && Moment::now() < enough {
            sleep(Duration::from_millis(1)).await;
        }
        self.trial.fleet.resume(self.slot);
        let mut state = self.trial.state();
        state.figures.done(self.side, Deed::Freeze);
        state.docket.finish();
    }
}

fn number(text: &str) -> u64 {
    text.parse().expect("processes tell numbers")
}

fn moment(text: &str) -> Moment {
    Moment::parse(text).expect("processes tell moments in nanoseconds")
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
