//! Whether a hold is still one.

use std::sync::Arc;

use super::Hold;
use crate::error::LossReason;
use crate::sync::atomic::{AtomicU8, Ordering};

const LIVE: u8 = 0;
const RELEASED: u8 = 1;
const LOST_EXPIRED: u8 = 2;
const LOST_REMOVED: u8 = 3;
const LOST_MAX_HOLD: u8 = 4;
const LOST_SHUTDOWN: u8 = 5;

/// Who has to know that a hold was lost.
pub(crate) trait OnLoss: Send + Sync {
    /// Called when a hold is lost; perhaps again for one that was lost before.
    fn lost(self: Arc<Self>, hold: &Arc<Hold>);
}

/// Live, released or lost. A hold ends once.
#[derive(Debug, Default)]
pub(super) struct Fate(AtomicU8);

impl Fate {
    pub(super) fn is_live(&self) -> bool {
        self.0.load(Ordering::Acquire) == LIVE
    }

    pub(super) fn is_released(&self) -> bool {
        self.0.load(Ordering::Acquire) == RELEASED
    }

    /// Why it was lost, if it was.
    pub(super) fn loss(&self) -> Option<LossReason> {
        match self.0.load(Ordering::Acquire) {
            LOST_EXPIRED => Some(LossReason::Expired),
            LOST_REMOVED => Some(LossReason::Removed),
            LOST_MAX_HOLD => Some(LossReason::MaxHold),
            LOST_SHUTDOWN => Some(LossReason::Shutdown),
            _ => None,
        }
    }

    /// Ends it as lost; whether it was live.
    pub(super) fn lose(&self, reason: LossReason) -> bool {
        self.end(match reason {
            LossReason::Expired => LOST_EXPIRED,
            LossReason::Removed => LOST_REMOVED,
            LossReason::MaxHold => LOST_MAX_HOLD,
            LossReason::Shutdown => LOST_SHUTDOWN,
        })
    }

    /// Ends it as released; whether it was live.
    pub(super) fn finish(&self) -> bool {
        self.end(RELEASED)
    }

    fn end(&self, state: u8) -> bool {
        self.0
            .compare_exchange(LIVE, state, Ordering::AcqRel, Ordering::Acquire)
            .is_ok()
    }
}
