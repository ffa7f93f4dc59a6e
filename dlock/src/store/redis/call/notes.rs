//! Messages that a script has left to the client.

use super::caller::Caller;
use crate::clock::Instant;
use crate::slot::Slot;
use crate::store::redis::wire::publish_all;
use crate::tasks::Place;

impl Caller {
    /// Publishes at the node that owns a slot, where its subscribers are, what a script at the node that the slot is
    /// moving to has left to the client.
    pub(super) fn pass_notes(&self, slot: Slot, notes: Vec<(String, String)>) {
        let owner = self.servers.now().node(slot).cloned();
        let Some(owner) = owner.filter(|_| !notes.is_empty()) else {
            return;
        };
        let until = Instant::now() + self.env.options.response_timeout;
        let passing = async move {
            if let Ok(mut session) = owner.connected(until).await {
                // Who does not hear looks at its next heartbeat.
                let _ = session
                    .connection
                    .request_all(&publish_all(&notes), until)
                    .await;
            }
        };
        self.env.tasks.spawn(&Place::own(), passing);
    }
}
