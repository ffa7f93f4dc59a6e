//! A process at work: a client, and tasks that take locks as the plan says, until it is told to stop.
//!
//! It works in a folder of its own; when a file `stop` appears there, tasks begin nothing new, and it ends.

mod act;
mod hold;
mod resource;
mod system;

use std::{path::Path, process::ExitCode, rc::Rc, time::Duration};

use dlock_tests::history::Journal;
use tokio::{
    signal::unix::{SignalKind, signal},
    task::{JoinSet, LocalSet},
    time::{Instant, sleep},
};

use self::{act::Work, resource::Resource, system::System};
use crate::plan::{Draw, Kind, LockKind, Plan, Topology};

pub(crate) const STOP: &str = "stop";
/// How often it looks whether it is to stop, and whether it ran at all.
const TICK: Duration = Duration::from_millis(20);
/// Later than that is worth a note.
const LATE: Duration = Duration::from_millis(60);

/// What a worker is told when it starts.
#[derive(Debug, Clone)]
pub(crate) struct Orders {
    pub(crate) draw: Draw,
    pub(crate) process: usize,
    pub(crate) life: usize,
    /// Of one server, or of each of a quorum.
    pub(crate) urls: Vec<String>,
    pub(crate) journal: String,
    pub(crate) resource: String,
}

impl Orders {
    pub(crate) fn to_words(&self) -> Vec<String> {
        let Draw {
            seed,
            round,
            topology,
            lock,
            kind,
        } = self.draw;
        let mut words: Vec<String> = ["worker".to_owned()].into();
        words.extend([seed, round].map(|word| word.to_string()));
        words.extend([topology.name(), lock.name(), kind.name()].map(str::to_owned));
        words.extend([self.process, self.life].map(|word| word.to_string()));
        words.extend([&self.urls.join(" "), &self.journal, &self.resource].map(String::clone));
        words
    }

    fn parse(words: &[&str]) -> Option<Self> {
        let [
            seed,
            round,
            topology,
            lock,
            kind,
            process,
            life,
            urls,
            journal,
            resource,
        ] = words
        else {
            return None;
        };
        Some(Self {
            draw: Draw {
                seed: seed.parse().ok()?,
                round: round.parse().ok()?,
                topology: Topology::parse(topology)?,
                lock: LockKind::parse(lock)?,
                kind: Kind::parse(kind)?,
            },
            process: process.parse().ok()?,
            life: life.parse().ok()?,
            urls: urls.split(' ').map(str::to_owned).collect(),
            journal: (*journal).to_owned(),
            resource: (*resource).to_owned(),
        })
    }
}

/// Runs a worker.
pub(crate) fn main(words: &[&str]) -> ExitCode {
    let orders = Orders::parse(words).expect("drivers give orders that workers understand");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime starts");
    LocalSet::new().block_on(&runtime, run(orders));
    ExitCode::SUCCESS
}

async fn run(orders: Orders) {
    let mut terminate = signal(SignalKind::terminate()).expect("a handler can be set");
    let journal = Rc::new(Journal::create(Path::new(&orders.journal)));
    let plan = Plan::draw(orders.draw);
    let connecting = System::connect(&plan, &orders, &journal);
    let system = tokio::select! {
        system = connecting => system,
        () = watch_stop(&journal) => return,
        _ = terminate.recv() => return,
    };
    let work = Rc::new(Work::new(
        plan,
        orders.process,
        orders.life,
        system.clone(),
        Rc::clone(&journal),
        Resource::connect(&orders.resource).await,
    ));
    let mut tasks = JoinSet::new();
    for task in work.tasks() {
        tasks.spawn_local(act::work(Rc::clone(&work), task));
    }
    let all = async {
        while let Some(ended) = tasks.join_next().await {
            if let Err(error) = ended {
                journal.tells(format_args!("panic: {error}"));
                panic!("a task panicked: {error}");
            }
        }
    };
    tokio::pin!(all);
    let asked = tokio::select! {
        () = &mut all => false,
        () = async { watch_stop(&journal).await; work.stop(); std::future::pending().await } => false,
        _ = terminate.recv() => true,
    };
    let shut_down = system.shutdown().await;
    journal.tells(format_args!(
        "shut down: {}",
        shut_down.as_deref().unwrap_or("ok")
    ));
    if asked {
        // Its tasks learn what that means for them.
        work.stop();
        let _ = tokio::time::timeout(Duration::from_secs(5), all).await;
    }
    journal.tells("through");
}

/// Returns when the process is to stop; notes when it did not run.
async fn watch_stop(journal: &Journal) {
    loop {
        let before = Instant::now();
        sleep(TICK).await;
        let late = before.elapsed().saturating_sub(TICK);
        if late > LATE {
            journal.stood_still(late.as_millis());
        }
        if Path::new(STOP).exists() {
            return;
        }
    }
}
