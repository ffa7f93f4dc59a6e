//! What one lock handle was told.

use std::sync::Arc;
use std::time::Duration;

use metrics::SharedString;

use crate::client::{Config, check_lease};
use crate::error::{Error, ErrorKind};

/// The longest owner name, in bytes.
const MAX_OWNER_BYTES: usize = 256;

/// Per-lock settings; checked when the lock is acquired.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) lease: Duration,
    pub(crate) max_hold: Option<Duration>,
    pub(crate) label: SharedString,
    pub(crate) owner: Option<Arc<str>>,
}

impl Settings {
    pub(crate) fn new(config: &Config) -> Self {
        Self {
            lease: config.lease,
            max_hold: config.max_hold,
            label: SharedString::const_str("unnamed"),
            owner: None,
        }
    }

    pub(crate) fn check(&self) -> Result<(), Error> {
        check_lease(self.lease, self.max_hold)?;
        match &self.owner {
            Some(owner) if owner.is_empty() || owner.len() > MAX_OWNER_BYTES => Err(Error::new(
                ErrorKind::InvalidConfig,
                format!("owner `{owner}` must have 1 to {MAX_OWNER_BYTES} bytes"),
            )),
            _ => Ok(()),
        }
    }
}
