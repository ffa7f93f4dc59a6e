//! quorum: a lock on most of five servers that know nothing of one another.

use std::{path::Path, time::Duration};

use tokio::process::Command;

use super::{
    Lab,
    contest::{self, Contenders, Contest, Outcome},
};
use crate::{
    results::{Results, Row},
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
                for (name, kind, command) in entrants(lab) {
                    // dlock has nothing to tune.
                    if Kind::OURS.contains(&kind) && polling == Polling::AsShipped {
                        continue;
                    }
                    let contest = Contest {
                        polling,
                        processes,
                        hold,
                        ..Contest::new(kind, "quorum", lasts)
                    };
                    let command = || command(&contest, &site);
                    let outcome = contest::run_programs(processes, command, &site).await;
                    let label = polling.label(name);
                    let mut row = results.row(workload, &label);
                    add_waits(&mut row, &contest, &outcome);
                    outcome.add_shares(&mut row);
                    outcome.add_cpu(&mut row);
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
            for (name, kind, command) in entrants(lab) {
                let contest = Contest {
                    processes: 8,
                    hold: Duration::from_millis(1),
                    ..Contest::new(kind, "away", lasts)
                };
                let outcome = beside(&contest, || command(&contest, &site), &site, away).await;
                add_waits(&mut results.row(workload, name), &contest, &outcome);
            }
        }
    }
}

/// What starts a process of a contest.
type Program = fn(&Contest, &Site) -> Command;

/// The systems that take part, and node-redlock if Node.js finds it.
fn entrants(lab: &Lab) -> Vec<(&'static str, Kind, Program)> {
    let systems = lab.chosen(&Kind::QUORUM);
    let mut entrants: Vec<(_, _, Program)> = systems
        .map(|kind| (kind.name(), kind, Contest::command as Program))
        .collect();
    if std::env::var_os(MODULES).is_some() {
        entrants.push((NODE, Kind::Empty, node));
    }
    entrants
}

/// A contest whose processes have connected when the server goes away. It comes back after the time of the contest: some
/// clients wait for it until then.
async fn beside(
    contest: &Contest,
    command: impl Fn() -> Command,
    site: &Site,
    away: Away,
) -> Outcome {
    let mut contenders = Contenders::start(contest.processes, command).await;
    site.begin(away);
    contenders.go().await;
    tokio::time::sleep(contest.lasts).await;
    site.end(away).await;
    let outcome = contenders.finish().await;
    site.flush().await;
    outcome
}

fn add_waits(row: &mut Row<'_>, contest: &Contest, outcome: &Outcome) {
    row.add("acquisitions", "1/s", outcome.rate(contest));
    outcome.add_waits(row);
}

/// The program that takes part for node-redlock.
fn node(contest: &Contest, site: &Site) -> Command {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("contestants/node-redlock.js");
    let mut command = Command::new("node");
    command
        .arg(program)
        .args([contest.key(), site.setup(contest.lease).url])
        .args(contest.numbers());
    command
}
