//! Messages on channels.

use super::{Listeners, Node};
use crate::server::cluster::slot_of;
use crate::server::config::Flavour;
use crate::server::fleet::ConnId;
use crate::server::resp::Reply;

/// A connection no longer listens to a channel; whether it did.
pub(super) fn stop(listeners: &mut Listeners, channel: &[u8], conn: ConnId) -> bool {
    let Some(conns) = listeners.get_mut(channel) else {
        return false;
    };
    let before = conns.len();
    conns.retain(|other| *other != conn);
    let did = conns.len() < before;
    if conns.is_empty() {
        listeners.shift_remove(channel);
    }
    did
}

impl Node {
    pub(in super::super) fn listen(&mut self, id: ConnId, channel: &[u8], sharded: bool) -> Reply {
        let Some(conn) = self.conns.get_mut(&id) else {
            return Reply::Null;
        };
        let (of_conn, listeners, word) = if sharded {
            (
                &mut conn.shard_channels,
                &mut self.shard_channels,
                "ssubscribe",
            )
        } else {
            (&mut conn.channels, &mut self.channels, "subscribe")
        };
        if of_conn.insert(channel.to_vec()) {
            listeners.entry(channel.to_vec()).or_default().push(id);
        }
        confirmation(word, Some(channel), of_conn.len())
    }

    /// Ends one subscription, or all of them.
    pub(in super::super) fn unlisten(
        &mut self,
        id: ConnId,
        channel: Option<&[u8]>,
        sharded: bool,
    ) -> Reply {
        let Some(conn) = self.conns.get_mut(&id) else {
            return Reply::Null;
        };
        let (of_conn, listeners, word) = if sharded {
            (
                &mut conn.shard_channels,
                &mut self.shard_channels,
                "sunsubscribe",
            )
        } else {
            (&mut conn.channels, &mut self.channels, "unsubscribe")
        };
        let channels = match channel {
            Some(channel) => vec![channel.to_vec()],
            None => of_conn.iter().cloned().collect(),
        };
        if channels.is_empty() {
            return confirmation(word, None, 0);
        }
        let mut replies = Vec::with_capacity(channels.len());
        for channel in channels {
            of_conn.shift_remove(&channel);
            stop(listeners, &channel, id);
            replies.push(confirmation(word, Some(&channel), of_conn.len()));
        }
        Reply::Several(replies)
    }

    /// Sends a message to those who listen here; how many.
    pub(in super::super) fn tell(&mut self, channel: &[u8], message: &[u8], sharded: bool) -> i64 {
        let (listeners, word) = if sharded {
            (&self.shard_channels, "smessage")
        } else {
            (&self.channels, "message")
        };
        let Some(conns) = listeners.get(channel) else {
            return 0;
        };
        let conns = conns.clone();
        let push = Reply::Push(vec![
            Reply::bulk(word),
            Reply::bulk(channel),
            Reply::bulk(message),
        ]);
        for conn in &conns {
            // Later servers answer first who sends itself a message.
            if self.serving == Some(*conn) && self.flavour >= Flavour::Redis80 {
                self.held_back.push(push.clone());
            } else {
                self.answer(*conn, &push);
            }
        }
        i64::try_from(conns.len()).unwrap_or(i64::MAX)
    }

    /// Ends the subscriptions to sharded channels of these slots.
    pub(in super::super) fn silence_slots(&mut self, lost: impl Fn(u16) -> bool) {
        let mut channels: Vec<Vec<u8>> = self.shard_channels.keys().cloned().collect();
        // Redis 7 goes through them in this order, later servers in none that could be foreseen.
        channels.sort_unstable();
        for channel in channels {
            if !lost(slot_of(&channel)) {
                continue;
            }
            for id in self
                .shard_channels
                .shift_remove(&channel)
                .unwrap_or_default()
            {
                let Some(conn) = self.conns.get_mut(&id) else {
                    continue;
                };
                conn.shard_channels.shift_remove(&channel);
                let left = conn.shard_channels.len();
                self.answer(id, &confirmation("sunsubscribe", Some(&channel), left));
            }
        }
    }
}

fn confirmation(word: &str, channel: Option<&[u8]>, left: usize) -> Reply {
    let count = i64::try_from(left).unwrap_or(i64::MAX);
    Reply::Push(vec![
        Reply::bulk(word),
        channel.map_or(Reply::Null, Reply::bulk),
        Reply::Int(count),
    ])
}
