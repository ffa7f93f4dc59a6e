//! w1: one task, distinct keys.

use std::{pin::Pin, time::Instant};

use super::{LEASE, Lab};
use crate::{
    measure::Samples,
    results::Results,
    system::{Kind, Mode, Setup, System, with_system},
};

const WARM_UP: usize = 100;
const PAIRS: usize = 500;
/// How many pairs a system has in a row before the next one has its turn: few, as the machine's pace changes from second to
/// second by more than systems differ.
const TURN: usize = 25;

pub(super) async fn run(lab: &Lab, results: &mut Results) {
    let _apart = lab.kept_apart();
    for round in 0..lab.pick(1, 6, 30) {
        // Each has its turn behind each of the others.
        let mut places = lab.places();
        let first = round % places.len();
        places.rotate_left(first);
        let mut tasks: Vec<Box<dyn Task>> = Vec::new();
        for (site, kind) in &places {
            let setup = site.setup(LEASE);
            tasks.push(
                with_system!(*kind, S => Box::new(Pairs::<S>::start(*kind, &setup, round).await)),
            );
        }
        let turns = tokio::spawn(async move {
            for _ in 0..(WARM_UP + PAIRS) / TURN {
                for task in &mut tasks {
                    task.turn().await;
                }
            }
            tasks
        });
        let tasks = turns.await.expect("the task ends well");
        for ((site, kind), task) in places.iter().zip(&tasks) {
            let label = site.label(*kind);
            let samples = task.samples();
            let mut row = results.row("w1", &label);
            row.add("p50", "us", samples.median());
            row.add("p99", "us", samples.percentile(0.99));
        }
        for site in lab.sites() {
            site.flush().await;
        }
    }
}

/// A system at work.
trait Task: Send {
    fn turn(&mut self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>>;

    fn samples(&self) -> &Samples;
}

struct Pairs<S> {
    kind: Kind,
    system: S,
    round: usize,
    done: usize,
    samples: Samples,
}

impl<S: System> Pairs<S> {
    async fn start(kind: Kind, setup: &Setup, round: usize) -> Self {
        Self {
            kind,
            system: S::connect(setup).await,
            round,
            done: 0,
            samples: Samples::default(),
        }
    }
}

impl<S: System> Task for Pairs<S> {
    fn turn(&mut self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(async move {
            for n in self.done..self.done + TURN {
                let key = self.kind.key("w1", format_args!("{}:{n}", self.round));
                let start = Instant::now();
                self.system.locked(Mode::Write, &key, async {}).await;
                if n >= WARM_UP {
                    self.samples.add(start.elapsed().as_secs_f64() * 1e6);
                }
            }
            self.done += TURN;
        })
    }

    fn samples(&self) -> &Samples {
        &self.samples
    }
}
