//! Messages that a script has left to the client.

use super::caller::Caller;
use crate::clock::Instant;
use crate::slot::Slot;
use crate::store::redis::wire::publish_all;
use crate::tasks::Place;

impl Caller {
    /// Publishes at the node that owns a slot, where its subscribers are, what a script has left to the client: one at the node
    /// that the slot is moving to, or at a server that lets no script publish.
    pub(super) fn pass_notes(&self, slot: Slot, notes: Vec<(String, String)>) {
        if notes.is_empty() {
            return;
        }
        let Some(owner) = self.servers.now().node(slot).cloned() else {
            return;
        };
        let mode = self.env.publish.get();
        let until = Instant::now() + self.env.options.response_timeout;
        let passing = async move {
            if let Ok(mut session) = owner.connected(until).await {
                // Who does not hear looks at its next heartbeat.
                let _ = session
                    .connection
                    .request_all(&publish_all(mode, &notes), until)
                    .await;
            }
        };
        self.env.tasks.spawn(&Place::own(), passing);
    }
}
