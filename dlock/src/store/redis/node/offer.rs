//! Which messages a server passes on for this user.

use super::connection::Session;
use super::server::Node;
use crate::clock::Instant;
use crate::key::LockKey;
use crate::store::redis::wire::{
    Offer, PublishMode, Refusal, refusal, try_publishing, try_publishing_by_script,
};

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

    /// Whether scripts may publish what this client may, as far as this server says.
    pub(crate) async fn offers_to_scripts(
        &self,
        session: &mut Session,
        mode: PublishMode,
        key: &LockKey,
        until: Instant,
    ) -> bool {
        let channel = format!("{}~c:{}:probe", key.prefix(), key.tagged());
        let Some(publish) = try_publishing_by_script(mode, key.as_str(), &channel) else {
            return true;
        };
        match session.connection.request(&publish, until).await {
            Ok(answer) => refusal(&answer).is_none_or(|error| {
                // Others are about this server, slot or moment.
                !matches!(Refusal::of(error, self.address()), Refusal::Fatal(_))
            }),
            Err(_) => true,
        }
    }
}
