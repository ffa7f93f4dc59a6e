//! The settings of a client.

use std::time::Duration;

use crate::error::{Error, ErrorKind};
use crate::key::check_prefix;

/// The lease a hold gets unless told otherwise.
pub const DEFAULT_LEASE: Duration = Duration::from_secs(30);
/// The shortest lease: a renewal at a third of it must still have time for a second attempt.
pub const MIN_LEASE: Duration = Duration::from_millis(200);
/// The longest lease; holds that last longer are renewed.
pub const MAX_LEASE: Duration = Duration::from_secs(24 * 60 * 60);

/// What a client was built with.
#[derive(Debug, Clone)]
pub(crate) struct Config {
    pub(crate) prefix: String,
    pub(crate) lease: Duration,
    pub(crate) max_hold: Option<Duration>,
    pub(crate) retry_for: Duration,
    pub(crate) connect_timeout: Duration,
    pub(crate) response_timeout: Duration,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            prefix: "dlock".into(),
            lease: DEFAULT_LEASE,
            max_hold: None,
            retry_for: Duration::from_secs(10),
            connect_timeout: Duration::from_millis(500),
            response_timeout: Duration::from_secs(1),
        }
    }
}

impl Config {
    pub(crate) fn check(&self) -> Result<(), Error> {
        check_prefix(&self.prefix)?;
        check_lease(self.lease, self.max_hold)?;
        for (name, value) in [
            ("retry_for", self.retry_for),
            ("connect_timeout", self.connect_timeout),
            ("response_timeout", self.response_timeout),
        ] {
            if value < Duration::from_millis(1) || value > Duration::from_secs(3600) {
                return Err(Error::new(
                    ErrorKind::InvalidConfig,
                    format!("{name} is {value:?}; choose between 1 ms and 1 hour"),
                ));
            }
        }
        if self.retry_for < self.response_timeout {
            return Err(Error::new(
                ErrorKind::InvalidConfig,
                format!(
                    "retry_for ({:?}) is shorter than response_timeout ({:?}), so that nothing \
                     would ever be retried; raise the one or lower the other",
                    self.retry_for, self.response_timeout
                ),
            ));
        }
        Ok(())
    }
}

/// Checks a lease and the cap on renewing it.
pub(crate) fn check_lease(lease: Duration, max_hold: Option<Duration>) -> Result<(), Error> {
    if lease < MIN_LEASE || lease > MAX_LEASE {
        return Err(Error::new(
            ErrorKind::InvalidConfig,
            format!(
                "a lease of {lease:?} is out of range; choose between {MIN_LEASE:?} (shorter \
                 ones cannot be renewed safely) and 24 hours (holds renew themselves)"
            ),
        ));
    }
    if let Some(max_hold) = max_hold
        && max_hold < lease
    {
        return Err(Error::new(
            ErrorKind::InvalidConfig,
            format!(
                "max_hold ({max_hold:?}) is shorter than the lease ({lease:?}); lower the lease \
                 too, or raise max_hold"
            ),
        ));
    }
    Ok(())
}
