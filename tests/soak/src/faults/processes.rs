//! What happens to workers.

use tokio::time::sleep;

use super::Stage;
use crate::plan::Fault;

/// Whether it could be done.
pub(super) async fn happens(stage: Stage<'_>, fault: &Fault) -> bool {
    let fleet = stage.fleet;
    match *fault {
        Fault::Pause { process, lasts } => {
            if !fleet.pause(process) {
                return false;
            }
            sleep(lasts).await;
            fleet.resume(process);
        }
        Fault::Crash { process, restart } => {
            fleet.kill(process);
            sleep(restart).await;
            fleet.start_again(process);
        }
        Fault::Shutdown { process, restart } => {
            fleet.terminate(process);
            if !fleet.ends(process).await {
                stage
                    .facts
                    .trouble(format_args!("p{process} does not shut down"));
                fleet.kill(process);
            }
            sleep(restart).await;
            fleet.start_again(process);
        }
        _ => return false,
    }
    true
}
