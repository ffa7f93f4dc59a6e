//! A client's connection, as the server sees it.

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

pub(in super::super) type Channels = IndexSet<Vec<u8>, FxBuildHasher>;

/// A connection.
#[derive(Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a setting of its own"
)]
pub(in super::super) struct Conn {
    /// What has arrived and is not yet a whole request.
    pub(in super::super) input: Vec<u8>,
    /// Whether the client speaks RESP3.
    pub(in super::super) resp3: bool,
    /// Whether the next request may use a slot that is being imported.
    pub(in super::super) asking: bool,
    /// Whether a replica may answer.
    pub(in super::super) readonly: bool,
    pub(in super::super) name: Vec<u8>,
    pub(in super::super) channels: Channels,
    pub(in super::super) shard_channels: Channels,
    /// Whether the server closes it once it has answered.
    pub(in super::super) closing: bool,
}

impl Conn {
    pub(in super::super) fn is_subscriber(&self) -> bool {
        !self.channels.is_empty() || !self.shard_channels.is_empty()
    }
}
