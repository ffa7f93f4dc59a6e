//! Waiting for a condition: polled, with a deadline, and a clear failure.

use std::{
    future::Future,
    sync::OnceLock,
    time::{Duration, Instant},
};

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
