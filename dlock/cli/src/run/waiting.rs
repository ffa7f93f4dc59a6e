//! Saying that it takes long, and who is in the way.

use std::convert::Infallible;
use std::time::Duration;

use tokio::time::sleep;

use super::events::Events;
use crate::lock::Lock;

/// A wait that is no longer than this is not reported.
const PATIENCE: Duration = Duration::from_millis(500);
/// How often to look whether others hold the lock by now.
const AGAIN: Duration = Duration::from_secs(10);

/// Reports the holders of the lock, and each change of them, for as long as the command waits.
pub(super) async fn tell(lock: &Lock, events: &Events) -> Infallible {
    sleep(PATIENCE).await;
    let mut told: Option<Vec<String>> = None;
    loop {
        // The acquire reports what is wrong with the servers.
        if let Ok(info) = lock.inspect().await {
            let holders: Vec<_> = info.holders.iter().map(|hold| hold.id.clone()).collect();
            if !holders.is_empty() && told.as_ref() != Some(&holders) {
                events.waiting(&info);
                told = Some(holders);
            }
        }
        sleep(AGAIN).await;
    }
}
