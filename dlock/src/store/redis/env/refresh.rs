//! A wish for a look at who serves what.

use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::store::redis::address::Address;

/// How other parts ask for a survey.
#[derive(Debug, Default)]
pub(crate) struct RefreshSignal {
    wanted: Notify,
    /// Who named the node that a slot has moved to, and so knows more than others.
    informed: Mutex<Option<Address>>,
}

impl RefreshSignal {
    /// Something looked wrong.
    pub(crate) fn request(&self) {
        self.wanted.notify_one();
    }

    /// A server redirected.
    pub(crate) fn request_after_redirect(&self, by: &Address) {
        *self.informed.lock() = Some(by.clone());
        self.request();
    }

    /// Completes when somebody has asked.
    pub(crate) async fn wanted(&self) {
        self.wanted.notified().await;
    }

    /// Who redirected since the last time.
    pub(crate) fn take_informed(&self) -> Option<Address> {
        self.informed.lock().take()
    }
}
