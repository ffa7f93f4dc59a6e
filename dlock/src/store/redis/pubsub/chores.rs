//! What the keeper has to do.

use std::sync::Arc;
use std::time::Duration;

use super::channel::{Name, State};
use super::channels::Channels;
use crate::clock::Instant;
use crate::slot::Slot;
use crate::store::redis::node::NodeId;

/// How long a channel stays subscribed without listeners: a hot lock will need it again.
const LINGER: Duration = Duration::from_secs(5);

/// How many channels may linger.
const LINGERING: usize = 1000;

/// What is to be done, found by a sweep.
#[derive(Default)]
pub(super) struct Chores {
    pub(super) subscribe: Vec<(Name, Slot)>,
    pub(super) unsubscribe: Vec<(Name, NodeId, u64)>,
}

impl Channels {
    /// Forgets what nobody has listened to for long, and finds what is lost but wanted.
    pub(super) fn sweep(&self, now: Instant) -> Chores {
        let mut chores = Chores::default();
        let mut table = self.lock();
        let mut too_many = table.idle.saturating_sub(LINGERING);
        let mut done = Vec::new();
        for (name, channel) in &mut table.channels {
            match (channel.state, channel.idle_since) {
                (State::Lost, None) => {
                    channel.state = State::Pending;
                    chores.subscribe.push((Arc::clone(name), channel.slot));
                }
                (State::Lost, Some(_)) => done.push(Arc::clone(name)),
                (State::Live(node, number), Some(since)) => {
                    if now - since >= LINGER || too_many > 0 {
                        too_many = too_many.saturating_sub(1);
                        chores.unsubscribe.push((Arc::clone(name), node, number));
                        done.push(Arc::clone(name));
                    }
                }
                // Its worker decides once its turn comes.
                (State::Pending | State::Asked(_), _) | (State::Live(..), None) => {}
            }
        }
        for name in done {
            table.forget(&name);
        }
        chores
    }
}
