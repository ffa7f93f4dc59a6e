//! Timers, as Tokio has them.

use std::future::poll_fn;
use std::ops::{Add, Sub};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use super::world;

/// A point on the clock of timers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(Duration);

/// The time was over first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Elapsed;

impl Instant {
    /// Now.
    #[must_use]
    pub fn now() -> Self {
        Self(world().map_or(Duration::ZERO, |world| world.instant()))
    }

    /// What has passed since.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        Self::now() - *self
    }

    /// Later by this, unless that is beyond all times.
    #[must_use]
    pub fn checked_add(self, by: Duration) -> Option<Self> {
        self.0.checked_add(by).map(Self)
    }
}

impl Add<Duration> for Instant {
    type Output = Self;

    fn add(self, by: Duration) -> Self {
        Self(self.0 + by)
    }
}

impl Sub for Instant {
    type Output = Duration;

    fn sub(self, earlier: Self) -> Duration {
        self.0.saturating_sub(earlier.0)
    }
}

impl std::ops::AddAssign<Duration> for Instant {
    fn add_assign(&mut self, by: Duration) {
        self.0 += by;
    }
}

/// Completes when its time has come.
#[derive(Debug)]
#[must_use = "nothing happens until it is awaited"]
pub struct Sleep {
    until: Instant,
    timer: Option<u64>,
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let timer = self.timer.take();
        let Some(world) = world() else {
            return Poll::Pending;
        };
        if let Some(timer) = timer {
            world.clear_timer(timer);
        }
        if world.instant() >= self.until.0 {
            return Poll::Ready(());
        }
        self.timer = Some(world.set_timer(self.until.0, cx.waker()));
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        if let (Some(timer), Some(world)) = (self.timer, world()) {
            world.clear_timer(timer);
        }
    }
}

/// Completes then.
pub fn sleep_until(until: Instant) -> Sleep {
    Sleep { until, timer: None }
}

/// Completes after this long.
pub fn sleep(length: Duration) -> Sleep {
    sleep_until(Instant::now() + length)
}

/// What comes of a future that has until then.
pub async fn timeout_at<F: Future>(until: Instant, future: F) -> Result<F::Output, Elapsed> {
    let mut future = pin!(future);
    let mut late = pin!(sleep_until(until));
    poll_fn(|cx| match future.as_mut().poll(cx) {
        Poll::Ready(output) => Poll::Ready(Ok(output)),
        Poll::Pending => late.as_mut().poll(cx).map(|()| Err(Elapsed)),
    })
    .await
}

/// What comes of a future that has this long.
pub async fn timeout<F: Future>(length: Duration, future: F) -> Result<F::Output, Elapsed> {
    timeout_at(Instant::now() + length, future).await
}
