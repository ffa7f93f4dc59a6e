//! Waiting for a condition: polled, with a deadline, and a clear failure.

use std::{
    future::Future,
    panic::Location,
    sync::OnceLock,
    time::{Duration, Instant},
};

/// Enough for whatever needs no fault to end, on a machine with nothing else to do.
pub const SOON: Duration = Duration::from_secs(10);

const FIRST_PAUSE: Duration = Duration::from_millis(5);
const LONGEST_PAUSE: Duration = Duration::from_millis(50);

/// Stretches a deadline by `DLOCK_TEST_SLOWNESS` (for example `3` on a busy machine).
///
/// Only for how long a test is willing to wait, never for what it asserts.
#[must_use]
pub fn scaled(deadline: Duration) -> Duration {
    static SLOWNESS: OnceLock<f64> = OnceLock::new();
    deadline.mul_f64(*SLOWNESS.get_or_init(|| {
        match std::env::var("DLOCK_TEST_SLOWNESS") {
            Ok(text) => text
                .parse()
                .expect("DLOCK_TEST_SLOWNESS is a number such as 2.5"),
            Err(_) => 1.0,
        }
    }))
}

/// Waits for something that comes within [`scaled`]`(`[`SOON`]`)`; panics where it does not.
#[track_caller]
pub fn soon<F: Future>(what: F) -> impl Future<Output = F::Output> {
    let (limit, caller) = (scaled(SOON), Location::caller());
    async move {
        let ended = tokio::time::timeout(limit, what).await;
        ended.unwrap_or_else(|_| panic!("{caller}: waited {limit:?} in vain"))
    }
}

/// Polls `condition` until it is true; panics when that takes longer than [`scaled`]`(within)`.
pub async fn wait_until<F, C>(within: Duration, what: &str, mut condition: C)
where
    C: FnMut() -> F,
    F: Future<Output = bool>,
{
    wait_for(within, what, || {
        let holds = condition();
        async move { holds.await.then_some(()) }
    })
    .await;
}

/// Polls `probe` until it has a value; panics when that takes longer than [`scaled`]`(within)`.
pub async fn wait_for<T, F, P>(within: Duration, what: &str, mut probe: P) -> T
where
    P: FnMut() -> F,
    F: Future<Output = Option<T>>,
{
    let start = Instant::now();
    let deadline = scaled(within);
    let mut pause = FIRST_PAUSE;
    loop {
        if let Some(value) = probe().await {
            return value;
        }
        assert!(
            start.elapsed() < deadline,
            "waited {deadline:?} in vain: {what}"
        );
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}
