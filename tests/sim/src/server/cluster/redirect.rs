//! Whether a server serves a request itself, and where it sends it otherwise: `getNodeByQuery` of each version.

use super::slot::slot_of;
use super::view::View;
use crate::server::config::{Flavour, FleetConfig};
use crate::server::fleet::NodeId;

/// Why a request is not served here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Redirect {
    CrossSlot,
    /// Some of the keys are here.
    Unstable,
    Down,
    /// No node serves the slot.
    Unserved,
    Moved(u16, NodeId),
    Ask(u16, NodeId),
}

impl Redirect {
    /// What the client is told.
    pub(in super::super) fn line(self, config: &FleetConfig) -> String {
        let to = |word, slot, node: NodeId| {
            format!(
                "{word} {slot} {}:{}",
                config.host,
                usize::from(config.first_port) + node.0
            )
        };
        match self {
            Self::CrossSlot => "CROSSSLOT Keys in request don't hash to the same slot".into(),
            Self::Unstable => "TRYAGAIN Multiple keys request during rehashing of slot".into(),
            Self::Down => "CLUSTERDOWN The cluster is down".into(),
            Self::Unserved => "CLUSTERDOWN Hash slot not served".into(),
            Self::Moved(slot, node) => to("MOVED", slot, node),
            Self::Ask(slot, node) => to("ASK", slot, node),
        }
    }
}

/// A request, as far as it matters for its way.
#[derive(Debug, Clone, Copy)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a property of its own"
)]
pub(in super::super) struct Wish<'w> {
    pub(in super::super) keys: &'w [&'w [u8]],
    /// Whether the keys are sharded channels.
    pub(in super::super) channels: bool,
    pub(in super::super) writes: bool,
    pub(in super::super) asking: bool,
    pub(in super::super) readonly: bool,
}

impl View {
    /// Where a request is to go, unless it is served here. `has` tells whether a key is here.
    pub(in super::super) fn redirect(
        &self,
        flavour: Flavour,
        wish: Wish<'_>,
        has: impl Fn(&[u8]) -> bool,
    ) -> Option<Redirect> {
        let (first, rest) = wish.keys.split_first()?;
        let slot = slot_of(first);
        if self.unserved.contains(&slot) {
            return Some(Redirect::Unserved);
        }
        let owner = self.owners.owner(slot);
        // Replicas of Valkey know of migrations as well, for clients that read from them.
        let (looks, at_home) = match flavour {
            Flavour::Valkey81 => {
                let is_master = self.peer(self.me).replica_of.is_none();
                (is_master || wish.readonly, owner == self.my_master())
            }
            _ => (true, owner == self.me),
        };
        let target = self.migrating.get(&slot).filter(|_| looks && at_home);
        let importing = looks && target.is_none() && self.importing.contains_key(&slot);
        if rest.iter().any(|key| slot_of(key) != slot) {
            return Some(Redirect::CrossSlot);
        }
        let several = rest.iter().any(|key| key != first);
        let (mut missing, mut existing) = (0, 0);
        if (target.is_some() || importing) && !wish.channels {
            existing = wish.keys.iter().filter(|key| has(key)).count();
            missing = wish.keys.len() - existing;
        }
        // Channels are served all the same (`cluster-allow-pubsubshard-when-down`).
        if self.down && !wish.channels {
            return Some(Redirect::Down);
        }
        if let Some(target) = target
            && missing > 0
        {
            // Redis 6.2 asks the target even if it has some of the keys itself.
            let splits = existing > 0 && flavour != Flavour::Redis62;
            return Some(if splits {
                Redirect::Unstable
            } else {
                Redirect::Ask(slot, *target)
            });
        }
        if importing && wish.asking {
            return (several && missing > 0).then_some(Redirect::Unstable);
        }
        let reads_here = (wish.readonly || wish.channels) && !wish.writes;
        let is_replica = self.peer(self.me).replica_of == Some(owner);
        if reads_here && is_replica || owner == self.me {
            return None;
        }
        Some(Redirect::Moved(slot, owner))
    }
}
