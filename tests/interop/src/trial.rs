//! A run: servers, processes that contend, a checker that listens to them, and faults.

mod state;

use std::{convert::Infallible, future::pending, net::Ipv4Addr, process::ExitCode, sync::Arc};

use futures_util::future::join_all;
use parking_lot::Mutex;
use tokio::{
    net::TcpListener,
    time::{Duration, Instant, sleep, sleep_until},
};

pub(crate) use self::state::State;
use crate::{
    clock::Moment,
    figures::Count,
    fleet::{self, Slot},
    hearing::hear,
    members::{self, Member},
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
    pub(crate) fleet: Vec<Slot>,
    pub(crate) members: Vec<Member>,
    pub(crate) end: Instant,
    pub(crate) state: Mutex<State>,
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
    let members = members::start(&options).await;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
    let listener = listener.expect("loopback has a port");
    let judge = listener.local_addr().expect("a listener has an address");
    let ports: Vec<u16> = members.iter().map(|member| member.server.port()).collect();
    let fleet = fleet::start(&options, judge.port(), &ports, KEY);
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
    trial.state.lock().tell(&trial.options)
}

async fn judge_all(trial: Arc<Trial>, listener: TcpListener) {
    while let Ok((stream, _)) = listener.accept().await {
        tokio::spawn(hear(Arc::clone(&trial), stream));
    }
}

impl Trial {
    /// Whether no process is to ask for the lock any more.
    pub(crate) fn is_over(&self) -> bool {
        Instant::now() >= self.end
    }

    /// Whether the key says what it has to.
    pub(crate) async fn look(&self) {
        let Some(holder) = self.state.lock().court.holder(Moment::now()) else {
            return;
        };
        let answers = join_all(self.members.iter().map(|member| member.ask(KEY))).await;
        let mut state = self.state.lock();
        state.court.seen(&holder, &answers, Moment::now());
    }

    /// Lets one thing after the other happen, so that all do in the time there is.
    async fn disturb(&self) -> Infallible {
        let each = self.state.lock().docket.len();
        let each = u32::try_from(each).expect("few incidents");
        let pace = self.options.lasts.mul_f64(0.9) / each;
        if self.options.calm {
            return pending().await;
        }
        let pace = pace.min(self.options.lease * 4);
        let mut next = Instant::now();
        loop {
            sleep_until(next).await;
            self.state.lock().docket.advance();
            while !self.state.lock().docket.is_idle() {
                self.kill_a_waiter();
                sleep(GLANCE).await;
            }
            next += pace;
        }
    }

    fn kill_a_waiter(&self) {
        let mut state = self.state.lock();
        if self.is_over() {
            return;
        }
        let Some(side) = state.docket.wants_a_waiter() else {
            return;
        };
        let mut slots = self.fleet.iter().zip(&mut state.waiting);
        let waits = slots.find(|(slot, waits)| slot.side == side && waits.is_some());
        let Some((slot, waits)) = waits else { return };
        *waits = None;
        slot.replace();
        state.done(side, Count::KilledWaiting);
    }

    /// Looks at the key now and then, until all processes have ended.
    async fn attend(&self) {
        let objection = loop {
            self.look().await;
            match fleet::running(&self.fleet) {
                Err(error) => break error,
                Ok(0) => return,
                Ok(running) if Instant::now() >= self.end + END => {
                    break format!("{running} processes have not ended");
                }
                Ok(_) => sleep(GLANCE).await,
            }
        };
        self.state.lock().court.object(objection);
    }

    /// Every key has to expire.
    async fn look_for_leftovers(&self) {
        for member in &self.members {
            for key in member.lasting().await {
                let text = format!("the key {key} was left behind for good");
                self.state.lock().court.object(text);
            }
        }
    }
}
