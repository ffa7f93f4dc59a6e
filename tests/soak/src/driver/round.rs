//! One round: servers, workers, faults, and what judges say of it all.

use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use dlock_tests::{history::Story, scaled};
use tokio::{sync::SetOnce, time::sleep};

use super::{
    facts::{Facts, Known},
    fleet::Fleet,
    resource::{Resource, Updates},
    sampler::{Sample, Sampler},
    site::Site,
    watch::watch,
};
use crate::{
    faults::{self, Stage},
    judges::{self, Verdict, leftovers},
    plan::{Kind, Mutexes, Plan, Track, lock_count},
};

/// What passes between looks at histories that still go on.
const BETWEEN_JUDGES: Duration = Duration::from_secs(1);
/// How much later than its lease something is over.
const SLACK: Duration = Duration::from_secs(1);

/// How a round's time is spent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Times {
    /// Nothing is wrong yet.
    pub(crate) before: Duration,
    pub(crate) faults: Duration,
    /// Until what faults have left is over: places of the dead, connections.
    pub(crate) settling: Duration,
    /// Nothing is wrong any more.
    pub(crate) after: Duration,
    /// Whether faults end as soon as a checker objects.
    pub(crate) in_a_hurry: bool,
}

/// What a round was.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) known: Known,
    pub(crate) story: Story,
    pub(crate) updates: Updates,
    pub(crate) verdict: Verdict,
    pub(crate) took: Duration,
    /// Where the histories are.
    pub(crate) folder: PathBuf,
}

/// Does a round in a folder, which stays until the caller removes it.
pub(crate) async fn round(plan: &Plan, times: Times, folder: &Path) -> Outcome {
    let begun = Instant::now();
    fs::create_dir_all(folder).expect("the run's folder is writable");
    let socket = folder.join("resource");
    let resource = Resource::start(&socket, lock_count(plan));
    let site = Site::start(plan).await;
    let facts = Facts::default();
    let mut verdict = Verdict::default();
    let sampler = match plan.draw.kind {
        Kind::Dlock => Some(Sampler::new(&site, plan).await),
        Kind::Plain => None,
    };
    let sampler = sampler.map(|sampler| sampler.expect("the servers are up"));
    let fleet = Fleet::start(plan, folder, &socket, |process| site.urls(Some(process)));
    let stage = Stage {
        plan,
        site: &site,
        fleet: &fleet,
        facts: &facts,
        sampler: sampler.as_ref(),
    };
    let calm = tokio::select! {
        calm = act(stage, times, &resource, &mut verdict) => calm,
        () = watch_all(&site, &facts) => unreachable!("it watches until dropped"),
    };
    if let Some(sampler) = &sampler {
        let lease = Duration::from_millis(plan.longest_lease());
        let members = Sampler::of_members(&site, plan).await;
        let members = members.expect("the servers are up");
        let all: Vec<&Sampler> = members.iter().chain([sampler]).collect();
        leftovers(&site, &all, lease, &facts, &mut verdict).await;
        for sampler in all {
            // It is no part of what is tried.
            let _ = sampler.client.shutdown().await;
        }
    }
    let (known, story) = (facts.take(), fleet.story());
    let updates = resource.updates();
    let judged = judges::judge(to_judge(plan, &story, &known, &updates, &calm));
    verdict.violations.extend(judged.violations);
    Outcome {
        known,
        story,
        updates,
        verdict: Verdict {
            violations: verdict.violations,
            ..judged
        },
        took: begun.elapsed(),
        folder: folder.to_owned(),
    }
}

fn to_judge<'r>(
    plan: &'r Plan,
    story: &'r Story,
    known: &'r Known,
    updates: &'r Updates,
    calm: &'r [Vec<Sample>],
) -> judges::Round<'r> {
    judges::Round {
        plan,
        locks: lock_count(plan),
        lease: plan.longest_lease() * dlock_load::MS,
        story,
        known,
        updates,
        calm,
    }
}

/// From the first calm to the end of the workers; what was seen in both calms.
async fn act(
    stage: Stage<'_>,
    times: Times,
    resource: &Resource,
    verdict: &mut Verdict,
) -> Vec<Vec<Sample>> {
    let mut calm = vec![look(stage, times.before).await];
    let end = Instant::now() + times.faults;
    let enough = SetOnce::new();
    let faults = async {
        tokio::join!(
            faults::run(stage, Track::Network, end, &enough),
            faults::run(stage, Track::Processes, end, &enough),
            faults::run(stage, Track::Servers, end, &enough),
        );
    };
    let objections = async {
        if times.in_a_hurry {
            objections(stage, resource, &calm).await;
            let _ = enough.set(());
        }
        std::future::pending::<()>().await;
    };
    tokio::select! {
        () = faults => {}
        () = objections => {}
    }
    stage.site.mend(stage.facts, stage.fleet.len()).await;
    stage.facts.tell("all is well again");
    if stage.sampler.is_some() && enough.get().is_none() {
        sleep(settling(stage.plan, times)).await;
        calm.push(look(stage, times.after).await);
    }
    let longest = Duration::from_millis(stage.plan.longest_lease());
    for story in stage.fleet.fallen() {
        verdict.object("crash", story);
    }
    for story in stage.fleet.stop(stage.facts, longest).await {
        verdict.object("progress", story);
    }
    calm
}

/// Returns when a checker objects, and still does a little later, when the losses in between are known.
async fn objections(stage: Stage<'_>, resource: &Resource, calm: &[Vec<Sample>]) {
    let mut objected = false;
    loop {
        let updates = resource.updates();
        let story = stage.fleet.story();
        let known = stage.facts.lock().clone();
        let round = to_judge(stage.plan, &story, &known, &updates, calm);
        let objects = judges::object_already(round);
        if objected && objects {
            return;
        }
        objected = objects;
        sleep(BETWEEN_JUDGES).await;
    }
}

/// Until what faults have left is over. A delayed duplicate of a request takes a mutex for no client, for a lease.
fn settling(plan: &Plan, times: Times) -> Duration {
    let lease = Duration::from_millis(plan.longest_lease());
    match plan.mutexes {
        Mutexes::None => scaled(times.settling),
        Mutexes::Every2nd | Mutexes::All => scaled(times.settling).max(lease + SLACK),
    }
}

async fn look(stage: Stage<'_>, long: Duration) -> Vec<Sample> {
    if let Some(sampler) = stage.sampler {
        return sampler.look(long).await;
    }
    sleep(long).await;
    Vec::new()
}

async fn watch_all(site: &Site, facts: &Facts) {
    if site.partner(0).is_some() {
        watch(site, facts).await;
    } else {
        std::future::pending::<()>().await;
    }
}
