//! What one lock handle was told.

use std::sync::Arc;
use std::time::Duration;

use metrics::SharedString;

use crate::error::{Error, ErrorKind};
use crate::hold::Terms;
use crate::kind::Kind;
use crate::lease::{check_lease, check_min_hold};
use crate::mode::Mode;

/// The longest owner name, in bytes.
const MAX_OWNER_BYTES: usize = 256;

/// Per-lock settings; checked when the lock is acquired.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(super) lease: Duration,
    pub(super) max_hold: Option<Duration>,
    pub(super) min_hold: Option<Duration>,
    pub(super) label: SharedString,
    pub(super) owner: Option<Arc<str>>,
}

impl Settings {
    pub(crate) fn new(lease: Duration, max_hold: Option<Duration>) -> Self {
        Self {
            lease,
            max_hold,
            min_hold: None,
            label: SharedString::const_str("unnamed"),
            owner: None,
        }
    }

    pub(super) fn terms(&self, kind: Kind, mode: Mode) -> Terms {
        Terms {
            kind,
            mode,
            lease: self.lease,
            max_hold: self.max_hold,
            min_hold: self.min_hold.filter(|min_hold| !min_hold.is_zero()),
        }
    }

    pub(super) fn check(&self) -> Result<(), Error> {
        check_lease(self.lease, self.max_hold)?;
        check_min_hold(self.min_hold, self.max_hold)?;
        match &self.owner {
            Some(owner) if owner.is_empty() || owner.len() > MAX_OWNER_BYTES => Err(Error::new(
                ErrorKind::InvalidConfig,
                format!("owner `{owner}` must have 1 to {MAX_OWNER_BYTES} bytes"),
            )),
            // What has ended would still be the owner's, who could go past the line by it.
            Some(_) if self.min_hold.is_some() => Err(Error::new(
                ErrorKind::InvalidConfig,
                "`owner` allows re-entry and `min_hold` forbids it; omit one of the two",
            )),
            _ => Ok(()),
        }
    }
}
