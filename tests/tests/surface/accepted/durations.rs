use dlock::testing::Scope;
use std::time::Duration;

use dlock::{Error, distributed_lock};

const LEASE: Duration = Duration::from_secs(3);

#[distributed_lock(key = "a", lease = "30s", wait = "250ms", max_hold = "5m")]
async fn literals() -> Result<(), Error> {
    Ok(())
}

#[distributed_lock(key = "b", lease = LEASE, wait = wait, max_hold = LEASE * 2)]
async fn expressions(wait: Duration) -> Result<(), Error> {
    Ok(())
}

#[distributed_lock(key = "c", lease = "200ms", max_hold = "200ms")]
async fn shortest() -> Result<(), Error> {
    Ok(())
}

#[distributed_lock(key = "d", lease = "24h", min_hold = "24h")]
async fn longest() -> Result<(), Error> {
    Ok(())
}

/// What the attribute refuses is what the library would: `ui/lease_below_minimum`, `ui/lease_above_maximum` and
/// `ui/min_hold_above_maximum`.
#[test]
fn the_limits_are_those_of_the_library() {
    assert_eq!(dlock::MIN_LEASE, Duration::from_millis(200));
    assert_eq!(dlock::MAX_LEASE, Duration::from_secs(24 * 3600));
}

#[tokio::test]
async fn accepted() -> Result<(), Error> {
    let scope = Scope::memory().await?;
    scope
        .run(async {
            literals().await?;
            expressions(Duration::ZERO).await?;
            shortest().await?;
            longest().await?;
            Ok(())
        })
        .await
}
