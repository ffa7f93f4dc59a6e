//! A run: servers, processes that contend, a checker that listens to them, and faults.

mod state;

use std::{
    convert::Infallible,
    future::pending,
    net::Ipv4Addr,
    process::ExitCode,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::{
    net::TcpListener,
    time::{Duration, Instant, sleep, sleep_until},
};

pub(crate) use self::state::State;
use crate::{
    clock::Moment,
    fleet::{Fleet, Terms},
    hearing::hear,
    incident::Deed,
    members::Members,
    options::Options,
    outage,
};

const KEY: &str = "order:42";
/// How long processes may take to come to an end.
const END: Duration = Duration::from_secs(20);
/// How often the key is read without an event, and processes are looked at that may have ended by themselves.
const GLANCE: Duration = Duration::from_millis(5);

/// What all who take part share.
#[derive(Debug)]
pub(crate) struct Trial {
    pub(crate) options: Options,
    pub(crate) fleet: Fleet,
    pub(crate) members: Members,
    pub(crate) end: Instant,
    state: Mutex<State>,
}

/// Runs it and tells how it went.
pub(crate) async fn run(options: Options) -> ExitCode {
    println!(
        "seed {}: {} processes a side for {} s, a lease of {} ms",
        options.seed,
        options.processes,
        options.lasts.as_secs(),
        options.lease.as_millis()
    );
    let members = Members::start(&options).await;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
    let listener = listener.expect("loopback has a port");
    let judge = listener.local_addr().expect("a listener has an address");
    let terms = Terms {
        judge: judge.port(),
        redis: members.ports(),
        key: KEY.to_owned(),
        lease: options.lease,
        python: options.python.clone(),
        careless: options.careless(),
        fenced: options.fenced,
    };
    let fleet = Fleet::start(&options.sides, options.processes, terms);
    let trial = Arc::new(Trial {
        state: Mutex::new(State::new(&options, fleet.len())),
        members,
        end: Instant::now() + options.lasts,
        fleet,
        options,
    });
    let judging = tokio::spawn(judge_all(Arc::clone(&trial), listener));
    tokio::select! {
        never = trial.disturb() => match never {},
        never = outage::befall(&trial) => match never {},
        () = trial.attend() => {}
    }
    judging.abort();
    trial.look_for_leftovers().await;
    trial.state().tell(&trial.options)
}

async fn judge_all(trial: Arc<Trial>, listener: TcpListener) {
    while let Ok((stream, _)) = listener.accept().await {
        tokio::spawn(hear(Arc::clone(&trial), stream));
    }
}

impl Trial {
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether no process is to ask for the lock any more.
    pub(crate) fn is_over(&self) -> bool {
        Instant::now() >= self.end
    }

    /// Whether the key says what it has to.
    pub(crate) async fn look(&self) {
        let Some(holder) = self.state().court.holder(Moment::now()) else {
            return;
        };
        let answers = self.members.ask(KEY).await;
        let mut state = self.state();
        state.court.seen(&holder, &answers, Moment::now());
    }

    /// Lets one thing after the other happen, so that all do in the time there is.
    async fn disturb(&self) -> Infallible {
        let each = self.state().docket.len();
        let each = u32::try_from(each).expect("few incidents");
        let pace = self.options.lasts.mul_f64(0.9) / each;
        if self.options.calm {
            return pending().await;
        }
        let pace = pace.min(self.options.lease * 4);
        let mut next = Instant::now();
        loop {
            sleep_until(next).await;
            self.state().docket.advance();
            while !self.state().docket.is_idle() {
                self.kill_a_waiter();
                sleep(GLANCE).await;
            }
            next += pace;
        }
    }

    fn kill_a_waiter(&self) {
        let mut state = self.state();
        if self.is_over() {
            return;
        }
        let Some(side) = state.docket.wants_a_waiter() else {
            return;
        };
        let mut slots = 0..self.fleet.len();
        let slot =
            slots.find(|slot| self.fleet.side(*slot) == side && state.waiting[*slot].is_some());
        let Some(slot) = slot else { return };
        state.waiting[slot] = None;
        state.docket.has_a_waiter();
        self.fleet.replace(slot);
        state.figures.done(side, Deed::KillWaiting);
    }

    /// Looks at the key now and then, until all processes have ended.
    async fn attend(&self) {
        loop {
            self.look().await;
            let ended: Vec<_> = (0..self.fleet.len())
                .filter_map(|slot| self.fleet.ended(slot))
                .collect();
            if let Some(Err(error)) = ended.iter().find(|ended| ended.is_err()) {
                self.state().court.object(error.clone());
                return;
            }
            if ended.len() == self.fleet.len() {
                return;
            }
            if Instant::now() >= self.end + END {
                let text = format!(
                    "{} processes have not ended",
                    self.fleet.len() - ended.len()
                );
                self.state().court.object(text);
                return;
            }
            sleep(GLANCE).await;
        }
    }

    /// Nothing stays for good.
    async fn look_for_leftovers(&self) {
        for key in self.members.lasting().await {
            let text = format!("the key {key} was left behind for good");
            self.state().court.object(text);
        }
    }
}
