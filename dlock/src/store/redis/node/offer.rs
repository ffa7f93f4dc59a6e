//! Which messages a server passes on for this user.

use super::connection::Session;
use super::server::Node;
use crate::clock::Instant;
use crate::store::redis::wire::{Offer, try_publishing};

impl Node {
    /// Publishes to a channel that nobody hears, to find out; `None` without an answer. `tagged` says in which slot.
    pub(crate) async fn offer(
        &self,
        session: &mut Session,
        tagged: &str,
        until: Instant,
    ) -> Option<Offer> {
        let env = self.env();
        let channel = format!("{}~c:{tagged}:probe", env.options.prefix);
        let mut offer = Offer::BEST;
        while let Some(publish) = try_publishing(offer.mode, &channel) {
            let answer = session.connection.request(&publish, until).await.ok()?;
            if !offer.narrow(&answer) {
                break;
            }
        }
        // Whoever was first has found the same.
        let _ = env.known.sharded.set(offer.sharded);
        Some(offer)
    }
}
