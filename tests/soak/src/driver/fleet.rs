//! The workers of a round.

use std::{
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use dlock_tests::{
    Worker,
    history::{Story, Who},
    scaled,
};
use tokio::time::sleep;

use super::facts::Facts;
use crate::{
    plan::{Draw, Plan},
    supervise::PROGRAM,
    worker::{Orders, STOP},
};

/// How long processes may take to end when nothing is wrong any more.
const ENDING: Duration = Duration::from_secs(30);

/// A process of the plan as it is now.
#[derive(Debug)]
struct Place {
    worker: Worker,
    life: usize,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Works,
    Stands,
    /// Killed or asked to end: that it has ended is no surprise.
    Ends,
}

/// All of them.
#[derive(Debug)]
pub(crate) struct Fleet {
    folder: PathBuf,
    orders: Vec<Orders>,
    places: Mutex<Vec<Place>>,
    /// The last words of processes that ended without an order.
    fallen: Mutex<Vec<String>>,
}

impl Fleet {
    /// Starts a worker for each process of the plan; `urls` are what each connects to.
    pub(crate) fn start(
        plan: &Plan,
        folder: &Path,
        resource: &Path,
        urls: impl Fn(usize) -> Vec<String>,
    ) -> Self {
        let draw: Draw = plan.draw;
        let orders = |process| Orders {
            draw,
            process,
            life: 0,
            urls: urls(process),
            journal: String::new(),
            resource: resource.display().to_string(),
        };
        let fleet = Self {
            folder: folder.to_owned(),
            orders: (0..plan.processes.len()).map(orders).collect(),
            places: Mutex::default(),
            fallen: Mutex::default(),
        };
        for process in 0..fleet.len() {
            let place = fleet.spawn(process, 0);
            fleet.places().push(place);
        }
        fleet
    }

    pub(crate) fn len(&self) -> usize {
        self.orders.len()
    }

    fn places(&self) -> MutexGuard<'_, Vec<Place>> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn journal(&self, who: Who) -> PathBuf {
        self.folder.join(who.to_string())
    }

    fn spawn(&self, process: usize, life: usize) -> Place {
        let journal = self.journal(Who { process, life });
        let orders = Orders {
            life,
            journal: journal.display().to_string(),
            ..self.orders[process].clone()
        };
        Place {
            worker: Worker::spawn(PROGRAM, orders.to_words()),
            life,
            state: State::Works,
        }
    }

    /// Stops a process (SIGSTOP); false if it does not run.
    pub(crate) fn pause(&self, process: usize) -> bool {
        let place = &mut self.places()[process];
        let runs = place.state == State::Works && place.worker.ended().is_none();
        if runs {
            place.worker.pause();
            place.state = State::Stands;
        }
        runs
    }

    /// Lets it run on.
    pub(crate) fn resume(&self, process: usize) {
        let place = &mut self.places()[process];
        if place.state == State::Stands {
            place.worker.resume();
            place.state = State::Works;
        }
    }

    /// Kills a process (SIGKILL).
    pub(crate) fn kill(&self, process: usize) {
        self.look_for_fallen();
        let place = &mut self.places()[process];
        place.worker.kill();
        place.state = State::Ends;
    }

    /// Asks a process to shut its client down.
    pub(crate) fn terminate(&self, process: usize) {
        self.look_for_fallen();
        let place = &mut self.places()[process];
        if place.state == State::Works {
            place.worker.terminate();
            place.state = State::Ends;
        }
    }

    /// Waits until a process that was asked to has ended, which it has to.
    pub(crate) async fn ends(&self, process: usize) -> bool {
        let begun = Instant::now();
        while begun.elapsed() < scaled(ENDING) {
            if self.places()[process].worker.ended().is_some() {
                return true;
            }
            sleep(Duration::from_millis(10)).await;
        }
        false
    }

    /// Another process goes on with the work of one that has ended.
    pub(crate) fn start_again(&self, process: usize) {
        let life = self.places()[process].life + 1;
        let place = self.spawn(process, life);
        self.places()[process] = place;
    }

    fn look_for_fallen(&self) {
        for (process, place) in self.places().iter_mut().enumerate() {
            if place.state == State::Works
                && let Some(status) = place.worker.ended()
            {
                place.state = State::Ends;
                let output = place.worker.output();
                let mut fallen = self.fallen.lock().unwrap_or_else(PoisonError::into_inner);
                fallen.push(format!("p{process}-{}: {status}: {output}", place.life));
            }
        }
    }

    /// The processes that have ended without an order, with their last words.
    pub(crate) fn fallen(&self) -> Vec<String> {
        self.look_for_fallen();
        let mut fallen = self.fallen.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut fallen)
    }

    /// Lets all processes finish their work; who does not, and is killed then.
    pub(crate) async fn stop(&self, facts: &Facts, longest: Duration) -> Vec<String> {
        for place in self.places().iter_mut() {
            if place.state == State::Stands {
                place.worker.resume();
                place.state = State::Works;
            }
            place.worker.touch(STOP);
        }
        let begun = Instant::now();
        let waits = |place: &mut Place| place.worker.ended().is_none();
        while self.places().iter_mut().any(waits) && begun.elapsed() < scaled(ENDING + longest) {
            sleep(Duration::from_millis(10)).await;
        }
        let mut stuck = Vec::new();
        for (process, place) in self.places().iter_mut().enumerate() {
            match place.worker.ended() {
                None => {
                    stuck.push(format!("p{process}-{} does not come through", place.life));
                    place.worker.kill();
                }
                Some(status) if !status.success() && place.state == State::Works => {
                    stuck.push(format!(
                        "p{process}-{}: {status}: {}",
                        place.life,
                        place.worker.output()
                    ));
                }
                Some(_) => {}
            }
            place.state = State::Ends;
        }
        facts.tell(format_args!("workers took {:?} to end", begun.elapsed()));
        stuck
    }

    /// What all of them wrote down.
    pub(crate) fn story(&self) -> Story {
        let mut story = Story::default();
        for (process, place) in self.places().iter().enumerate() {
            for life in 0..=place.life {
                let who = Who { process, life };
                story.read(&self.journal(who), who);
            }
        }
        story
    }
}
