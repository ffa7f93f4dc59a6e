//! What goes wrong: each fault is begun and ended here. Faults of a track follow each other; tracks meet.

mod atomic;
mod forge;
mod members;
mod network;
mod processes;
mod servers;
mod slots;
mod takeover;

use std::time::Instant;

use tokio::{sync::SetOnce, time::sleep};

use crate::{
    driver::{Facts, Fleet, Sampler, Site},
    plan::{Plan, Track, fault},
};

/// What faults happen to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stage<'s> {
    pub(crate) plan: &'s Plan,
    pub(crate) site: &'s Site,
    pub(crate) fleet: &'s Fleet,
    pub(crate) facts: &'s Facts,
    /// A process that no fault reaches.
    pub(crate) sampler: Option<&'s Sampler>,
}

/// Carries out the faults of a track until the time is up, or a checker has seen enough; the last one is ended on return.
pub(crate) async fn run(stage: Stage<'_>, track: Track, end: Instant, enough: &SetOnce<()>) {
    for number in 0.. {
        let (pause, fault) = fault(stage.plan, track, number);
        if Instant::now() + pause >= end {
            return;
        }
        tokio::select! {
            () = enough.wait() => return,
            () = sleep(pause) => {}
        }
        stage
            .facts
            .tell(format_args!("{track:?} {number}: {fault:?}"));
        let done = match track {
            Track::Network => network::happens(stage, &fault).await,
            Track::Processes => processes::happens(stage, &fault).await,
            Track::Servers => servers::happens(stage, &fault).await,
        };
        if done {
            stage.facts.count(fault.name());
        }
        stage
            .facts
            .tell(format_args!("{track:?} {number}: over, done: {done}"));
    }
}
