//! What happens between a process and a server.

use std::time::Duration;

use dlock_tests::{Direction, Faults, scaled};
use tokio::time::{sleep, timeout};

use super::{Stage, forge};
use crate::plan::{Fault, PREFIX};

/// How long the delivery of requests that were held back may take.
const DELIVERY: Duration = Duration::from_secs(3);

/// Whether it could be done.
pub(super) async fn happens(stage: Stage<'_>, fault: &Fault) -> bool {
    let between = |process: usize, node: usize| between(stage, process, node);
    match *fault {
        Fault::Cut {
            process,
            node,
            direction,
            resets,
            lasts,
        } => {
            let faults = between(process, node);
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
            let faults = between(process, node);
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
            return strikes(&between(process, node), |faults| {
                faults.cut_after_request(PREFIX, times);
            })
            .await;
        }
        Fault::HalfOpen { process, node } => {
            return strikes(&between(process, node), |faults| {
                faults.mute_request(PREFIX, 1);
            })
            .await;
        }
        Fault::Reset { process, node } => between(process, node).cut_all(),
        Fault::Slow {
            process,
            node,
            slow,
            lasts,
        } => {
            let faults = between(process, node);
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
        Fault::Forge { lock, times } => return forge::happens(stage, lock, times).await,
        _ => return false,
    }
    true
}

/// Of the servers, those that are likely to be asked.
fn between(stage: Stage<'_>, process: usize, node: usize) -> Faults {
    stage.site.between(process, node % stage.site.len())
}

/// Lays something in the way of the next requests; whether one met it.
async fn strikes(faults: &Faults, lay: impl FnOnce(&Faults)) -> bool {
    let before = faults.counters().cuts;
    lay(faults);
    sleep(Duration::from_millis(300)).await;
    faults.pass();
    faults.counters().cuts > before
}
