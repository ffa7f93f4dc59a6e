//! How long a hold lasts without a renewal: the limits.

use std::num::NonZeroU32;
use std::time::Duration;

use crate::error::{Error, ErrorKind, Written};

/// The lease a hold gets unless told otherwise.
pub const DEFAULT_LEASE: Duration = Duration::from_secs(30);
/// The shortest lease: a renewal at a third of it must still have time for a second attempt.
pub const MIN_LEASE: Duration = Duration::from_millis(200);
/// The longest lease; holds that last longer are renewed.
pub const MAX_LEASE: Duration = Duration::from_secs(24 * 60 * 60);

/// The longest time for which a process keeps a lock that no task uses.
pub const MAX_LINGER: Duration = Duration::from_secs(60);
/// The longest lease of a hold that may linger: for so long a process that ends without giving it back keeps others out.
pub(crate) const LINGERING_LEASE: Duration = Duration::from_secs(2);

/// How long before the server a holder takes its lease for over: covers clocks that run at
/// different speeds (1 %, the allowance of the Redlock paper, and 2 ms for their resolution).
pub(crate) fn margin(lease: Duration) -> Duration {
    lease / 100 + Duration::from_millis(2)
}

/// Checks a lease and the cap on renewing it.
pub(crate) fn check_lease(lease: Duration, max_hold: Option<Duration>) -> Result<(), Error> {
    if lease < MIN_LEASE || lease > MAX_LEASE {
        return Err(Error::new(
            ErrorKind::InvalidConfig,
            format!(
                "a lease of {} is out of range; choose between {} (shorter ones cannot be renewed safely) and {} \
                 (holds renew themselves)",
                Written(lease),
                Written(MIN_LEASE),
                Written(MAX_LEASE)
            ),
        ));
    }
    if let Some(max_hold) = max_hold
        && max_hold < lease
    {
        return Err(Error::new(
            ErrorKind::InvalidConfig,
            format!(
                "max_hold ({}) is shorter than the lease ({}); lower the lease too, or raise max_hold",
                Written(max_hold),
                Written(lease)
            ),
        ));
    }
    Ok(())
}

/// A span of whole milliseconds, at least one. Acquires copy handles and terms: two of these are half a `Duration`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Millis(NonZeroU32);

impl Millis {
    /// Rounded up; `None` for no time at all.
    pub(crate) fn of(span: Duration) -> Option<Self> {
        let millis = span.as_nanos().div_ceil(1_000_000);
        NonZeroU32::new(u32::try_from(millis).unwrap_or(u32::MAX)).map(Self)
    }

    pub(crate) fn span(self) -> Duration {
        Duration::from_millis(self.0.get().into())
    }
}

/// Checks for how long a process keeps a lock that no task uses.
pub(crate) fn check_linger(linger: Millis) -> Result<(), Error> {
    let linger = linger.span();
    if linger > MAX_LINGER {
        return Err(Error::new(
            ErrorKind::InvalidConfig,
            format!(
                "a linger of {} is out of range; choose up to {}",
                Written(linger),
                Written(MAX_LINGER)
            ),
        ));
    }
    Ok(())
}

/// Checks how long a lock is to stay held at least.
pub(crate) fn check_min_hold(min_hold: Millis, max_hold: Option<Duration>) -> Result<(), Error> {
    let min_hold = min_hold.span();
    if min_hold > MAX_LEASE {
        return Err(Error::new(
            ErrorKind::InvalidConfig,
            format!(
                "a min_hold of {} is out of range; choose up to {}",
                Written(min_hold),
                Written(MAX_LEASE)
            ),
        ));
    }
    if let Some(max_hold) = max_hold
        && max_hold < min_hold
    {
        return Err(Error::new(
            ErrorKind::InvalidConfig,
            format!(
                "max_hold ({}) is shorter than min_hold ({}); raise the one or lower the other",
                Written(max_hold),
                Written(min_hold)
            ),
        ));
    }
    Ok(())
}
