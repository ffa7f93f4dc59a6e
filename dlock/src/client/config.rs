//! The settings of a client.

use std::time::Duration;

use crate::error::{Error, ErrorKind, Written};
use crate::key::check_prefix;
use crate::lease::{DEFAULT_LEASE, check_lease};
use crate::store::{Timeouts, Trust};

/// What a client was built with.
#[derive(Debug, Clone)]
pub(crate) struct Config {
    pub(super) prefix: String,
    pub(super) lease: Duration,
    pub(super) max_hold: Option<Duration>,
    pub(super) timeouts: Timeouts,
    pub(super) trust: Trust,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            prefix: "dlock".into(),
            lease: DEFAULT_LEASE,
            max_hold: None,
            timeouts: Timeouts {
                retry_for: Duration::from_secs(10),
                connect: Duration::from_millis(500),
                response: Duration::from_secs(1),
            },
            trust: Trust::default(),
        }
    }
}

impl Config {
    pub(super) fn check(&self) -> Result<(), Error> {
        check_prefix(&self.prefix)?;
        check_lease(self.lease, self.max_hold)?;
        let Timeouts {
            retry_for,
            connect,
            response,
        } = self.timeouts;
        for (name, value) in [
            ("retry_for", retry_for),
            ("connect_timeout", connect),
            ("response_timeout", response),
        ] {
            if value < Duration::from_millis(1) || value > Duration::from_secs(3600) {
                return Err(Error::new(
                    ErrorKind::InvalidConfig,
                    format!("{name} is {}; choose between 1ms and 1h", Written(value)),
                ));
            }
        }
        if retry_for < response {
            return Err(Error::new(
                ErrorKind::InvalidConfig,
                format!(
                    "retry_for ({}) is shorter than response_timeout ({}), so that nothing would ever be retried; \
                     raise the one or lower the other",
                    Written(retry_for),
                    Written(response)
                ),
            ));
        }
        Ok(())
    }
}
