//! What happens between a process and a server.

use std::time::{Duration, Instant};

use dlock_tests::{Direction, Faults, scaled};
use tokio::time::{sleep, timeout};

use super::{Stage, forge, members};
use crate::plan::{Fault, PREFIX, Topology};

/// How long the delivery of requests that were held back may take.
const DELIVERY: Duration = Duration::from_secs(3);
/// How long it may take until there is a request, and how long others may follow it.
const REQUEST: Duration = Duration::from_secs(1);
const MORE: Duration = Duration::from_millis(100);

/// Whether it could be done.
pub(super) async fn happens(stage: Stage<'_>, fault: &Fault) -> bool {
    let between = async |process: usize, node: usize| between(stage, process, node).await;
    match *fault {
        Fault::Cut {
            process,
            node,
            direction,
            resets,
            lasts,
        } => {
            let faults = between(process, node).await;
            faults.blackhole(direction);
            sleep(lasts).await;
            if resets {
                faults.cut_all();
            }
            faults.pass();
        }
        Fault::HoldBack {
            process,
            node,
            times,
            delay,
        } => {
            let faults = between(process, node).await;
            faults.keep_request(PREFIX, times);
            sleep(delay).await;
            // Whatever was not kept by now, is not.
            faults.pass();
            let delivered = timeout(scaled(DELIVERY), faults.deliver_kept()).await;
            return delivered.is_ok_and(|answers| !answers.is_empty());
        }
        Fault::CutAfter {
            process,
            node,
            times,
        } => {
            return strikes(&between(process, node).await, |faults| {
                faults.cut_after_request(PREFIX, times);
            })
            .await;
        }
        Fault::HalfOpen { process, node } => {
            return strikes(&between(process, node).await, |faults| {
                faults.mute_request(PREFIX, 1);
            })
            .await;
        }
        Fault::Reset { process, node } => between(process, node).await.cut_all(),
        Fault::Slow {
            process,
            node,
            slow,
            lasts,
        } => {
            let faults = between(process, node).await;
            faults.delay(Direction::Both, slow);
            sleep(lasts).await;
            faults.pass();
        }
        Fault::Messages { process, lasts } => {
            let all = || (0..stage.site.len()).map(|node| stage.site.between(process, node));
            all().for_each(|faults| faults.drop_pushes(true));
            sleep(lasts).await;
            all().for_each(|faults| faults.drop_pushes(false));
        }
        Fault::Partition {
            process,
            from,
            resets,
            lasts,
        } => members::partition(stage, process, from, resets, lasts).await,
        Fault::Forge { lock, times } => return forge::happens(stage, lock, times).await,
        _ => return false,
    }
    true
}

/// Mostly the server that is asked, if it is just one: the master that has one of the locks.
async fn between(stage: Stage<'_>, process: usize, node: usize) -> Faults {
    let site = stage.site;
    let any = node / 4 % site.len();
    if node.is_multiple_of(4) || stage.plan.draw.topology == Topology::Apart {
        return site.between(process, any);
    }
    let (_, shard) = site.homes.of(node % stage.plan.locks);
    let master = site.master_of(shard).await;
    site.between(process, master.unwrap_or(any))
}

/// Lays something in the way of the next requests; whether one met it.
async fn strikes(faults: &Faults, lay: impl FnOnce(&Faults)) -> bool {
    let before = faults.counters().cuts;
    let met = || faults.counters().cuts > before;
    let begun = Instant::now();
    lay(faults);
    while !met() && begun.elapsed() < REQUEST {
        sleep(Duration::from_millis(5)).await;
    }
    sleep(MORE).await;
    faults.pass();
    met()
}
