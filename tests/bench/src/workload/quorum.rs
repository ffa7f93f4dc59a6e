//! quorum: a lock on most of five servers that know nothing of one another.

use std::{path::Path, time::Duration};

use tokio::process::Command;

use super::{LEASE, Lab, contest};
use crate::{
    measure::{Samples, count},
    results::Results,
    server::{Away, Site},
    system::{Kind, Polling},
};

const SERVERS: usize = 5;
/// Where Node.js finds `redlock` and `ioredis`; without it that one stays away.
const MODULES: &str = "NODE_PATH";
const NODE: &str = "node-redlock";

pub(super) async fn run(lab: &Lab, results: &mut Results) {
    let site = Site::quorum(SERVERS).await;
    let lasts = Duration::from_millis(lab.pick(150, 2000, 10_000));
    for _ in 0..lab.repeats {
        for (workload, processes, hold) in [
            ("quorum-1", 1, Duration::ZERO),
            ("quorum-8", 8, Duration::from_millis(1)),
        ] {
            for polling in [Polling::AsShipped, Polling::Tuned] {
                let run = |kind| contest::Contest {
                    kind,
                    polling,
                    processes,
                    tasks: 1,
                    writes: 1000,
                    hold,
                    think: Duration::ZERO,
                    lasts,
                    lease: LEASE,
                    workload: "quorum",
                };
                for kind in lab.chosen(&Kind::QUORUM) {
                    // dlock has nothing to tune.
                    if Kind::OURS.contains(&kind) && polling == Polling::AsShipped {
                        continue;
                    }
                    let contest = run(kind);
                    let outcome = contest::run(&contest, &site).await;
                    add(results, workload, &polling.label(kind), &contest, &outcome);
                }
                if std::env::var_os(MODULES).is_some() {
                    let contest = run(Kind::Empty);
                    let program = || node(&contest, &site);
                    let outcome = contest::run_programs(processes, program, &site).await;
                    add(results, workload, &polling.label(NODE), &contest, &outcome);
                }
            }
        }
    }
}

/// A hot key while a server is away.
pub(super) async fn run_away(lab: &Lab, results: &mut Results) {
    let site = Site::shaky(SERVERS).await;
    let lasts = Duration::from_millis(lab.pick(150, 4000, 10_000));
    for _ in 0..lab.repeats {
        for (workload, away) in [
            ("away-none", Away::No),
            ("away-shutdown", Away::Shutdown),
            ("away-hung", Away::Hung),
            ("away-refusing", Away::Refusing),
            ("away-slow", Away::Slow),
        ] {
            let run = |kind| contest::Contest {
                kind,
                polling: Polling::Tuned,
                processes: 8,
                tasks: 1,
                writes: 1000,
                hold: Duration::from_millis(1),
                think: Duration::ZERO,
                lasts,
                lease: LEASE,
                workload: "away",
            };
            for kind in lab.chosen(&Kind::QUORUM) {
                let contest = run(kind);
                let outcome = beside(&contest, || contest.command(&site), &site, away).await;
                add_waits(results, workload, kind.name(), &contest, &outcome);
            }
            if std::env::var_os(MODULES).is_some() {
                let contest = run(Kind::Empty);
                let outcome = beside(&contest, || node(&contest, &site), &site, away).await;
                add_waits(results, workload, NODE, &contest, &outcome);
            }
        }
    }
}

/// A contest whose processes have connected when the server goes away. It comes back after the time of the contest: some
/// clients wait for it until then.
async fn beside(
    contest: &contest::Contest<'_>,
    command: impl Fn() -> Command,
    site: &Site,
    away: Away,
) -> contest::Outcome {
    let mut contenders = contest::Contenders::start(contest.processes, command).await;
    site.begin(away);
    contenders.go().await;
    tokio::time::sleep(contest.lasts).await;
    site.end(away).await;
    let outcome = contenders.finish().await;
    site.flush().await;
    outcome
}

fn add_waits(
    results: &mut Results,
    workload: &'static str,
    label: &str,
    contest: &contest::Contest<'_>,
    outcome: &contest::Outcome,
) {
    let rate = outcome.acquisitions() / contest.lasts.as_secs_f64();
    let mut add = |metric, unit, value| results.add(workload, label, metric, unit, value);
    add("acquisitions", "1/s", rate);
    add("wait p50", "ms", outcome.writes.median() / 1e3);
    add("wait p99", "ms", outcome.writes.percentile(0.99) / 1e3);
    add("wait max", "ms", outcome.writes.max() / 1e3);
}

/// The program that takes part for node-redlock.
fn node(contest: &contest::Contest<'_>, site: &Site) -> Command {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("contestants/node-redlock.js");
    let mut command = Command::new("node");
    command
        .arg(program)
        .args([contest.key(), site.setup(contest.lease).url])
        .args(contest.numbers());
    command
}

fn add(
    results: &mut Results,
    workload: &'static str,
    label: &str,
    contest: &contest::Contest<'_>,
    outcome: &contest::Outcome,
) {
    add_waits(results, workload, label, contest, outcome);
    let all = count(outcome.writes.len());
    let mut add = |metric, unit, value| results.add(workload, label, metric, unit, value);
    let shares: Samples = outcome.shares.iter().map(|share| count(*share)).collect();
    add("fewest of a process", "1", shares.percentile(0.0));
    add("most of a process", "1", shares.max());
    add(
        "client CPU",
        "us/acquisition",
        outcome.client_cpu * 1e6 / all,
    );
    add(
        "server CPU",
        "us/acquisition",
        outcome.server_cpu * 1e6 / all,
    );
}
