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

#[distributed_lock(key = "e", linger = "60s", lease = "30s", max_hold = "30s")]
async fn lingers() -> Result<(), Error> {
    Ok(())
}

#[distributed_lock(key = "e", lock = "rw", mode = "read", linger = linger)]
async fn lingers_perhaps(linger: Duration) -> Result<(), Error> {
    Ok(())
}

#[distributed_lock(key = "f", linger = "0s", min_hold = "1ms")]
async fn does_not_linger() -> Result<(), Error> {
    Ok(())
}

#[distributed_lock(key = "g", linger = "1s", min_hold = "0s")]
async fn has_no_min_hold() -> Result<(), Error> {
    Ok(())
}

accepted!(durations, {
    literals().await?;
    expressions(Duration::ZERO).await?;
    shortest().await?;
    longest().await?;
    lingers().await?;
    lingers_perhaps(Duration::ZERO).await?;
    does_not_linger().await?;
    has_no_min_hold().await?;
});

/// The attribute's own limits, in `ui/duration_limits` and `ui/linger`, are those of the library.
#[test]
fn the_limits_are_those_of_the_library() {
    assert_eq!(dlock::MIN_LEASE, Duration::from_millis(200));
    assert_eq!(dlock::MAX_LEASE, Duration::from_secs(24 * 3600));
    assert_eq!(dlock::MAX_LINGER, Duration::from_secs(60));
}

#[distributed_lock(key = "a", wait = "none")]
async fn at_once() -> Result<(), Error> {
    Ok(())
}

#[distributed_lock(key = "a", wait = "forever")]
async fn patient() -> Result<(), Error> {
    Ok(())
}

#[distributed_lock(key = "a", wait = "0s")]
async fn zero() -> Result<(), Error> {
    Ok(())
}

accepted!(wait, {
    at_once().await?;
    patient().await?;
    zero().await?;
});
