//! What happens to some servers of a quorum at once.

use std::time::Duration;

use dlock_tests::{Direction, Faults, RedisServer, now_ns};
use tokio::time::sleep;

use super::Stage;
use crate::{
    driver::Outage,
    plan::{Fall, Members},
};

/// A process is cut off from some.
pub(super) async fn partition(
    stage: Stage<'_>,
    process: usize,
    from: Members,
    resets: bool,
    lasts: Duration,
) {
    let between = |node| stage.site.between(process, node);
    cut_off(from.numbers().map(between), resets, lasts).await;
}

/// Some fail, and come back.
pub(super) async fn down(stage: Stage<'_>, who: Members, fall: Fall, lasts: Duration) {
    let servers = || who.numbers().map(|node| stage.site.node(node));
    match fall {
        Fall::IsCutOff => {
            let paths = |node| (0..stage.fleet.len()).map(move |process| (process, node));
            let between = |(process, node)| stage.site.between(process, node);
            cut_off(who.numbers().flat_map(paths).map(between), true, lasts).await;
        }
        Fall::Stops => {
            servers().for_each(RedisServer::pause);
            stays(stage, who, lasts).await;
            servers().for_each(RedisServer::resume);
        }
        Fall::Dies => {
            servers().for_each(RedisServer::kill);
            stays(stage, who, lasts).await;
            servers().for_each(RedisServer::relaunch);
        }
        Fall::DiesForgetting => {
            servers().for_each(RedisServer::kill_and_forget);
            stays(stage, who, lasts).await;
            servers().for_each(RedisServer::relaunch);
        }
    }
}

/// They are down for so long.
async fn stays(stage: Stage<'_>, who: Members, lasts: Duration) {
    let from = now_ns();
    sleep(lasts).await;
    if who.is_majority() {
        let until = now_ns();
        stage.facts.lock().outages.push(Outage { from, until });
    }
}

async fn cut_off(paths: impl Iterator<Item = Faults>, resets: bool, lasts: Duration) {
    let paths: Vec<Faults> = paths.collect();
    for path in &paths {
        path.blackhole(Direction::Both);
    }
    sleep(lasts).await;
    for path in &paths {
        if resets {
            path.cut_all();
        }
        path.pass();
    }
}
