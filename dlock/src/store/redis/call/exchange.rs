//! One request on its way, and its answer.

use std::sync::Arc;

use crate::clock::{BootInstant, Instant};
use crate::error::{Error, ErrorKind};
use crate::key::LockKey;
use crate::protocol::{Op, Reply};
use crate::store::redis::node::{NoAnswer, Node, Session};
use crate::store::redis::wire::Value;
use crate::token::ServerToken;

/// A request that was sent.
pub(super) struct Exchange {
    pub(super) node: Arc<Node>,
    pub(super) asking: bool,
    pub(super) session: Session,
    pub(super) sent: Instant,
    /// The same moment, from which a lease that it grants is counted.
    pub(super) sent_at: BootInstant,
    pub(super) result: Result<Value, NoAnswer>,
}

/// Whether the request has to be sent again at once.
pub(super) fn wants_another(reply: &Reply) -> bool {
    matches!(reply, Reply::Again | Reply::TooLate(_))
}

/// What an answer tells about the node.
pub(super) fn answered(node: &Node, reply: &Reply, sent_at: BootInstant) {
    node.answered();
    if let Reply::Granted(token) = reply
        && *token != ServerToken::NONE
    {
        node.time.bound(token.as_u64(), sent_at);
    }
}

/// The error for an answer that no operation has.
pub(super) fn unknown_answer(node: &Node, key: &LockKey, op: &Op) -> Error {
    let (op, at) = (op.name(), node.address());
    Error::new(
        ErrorKind::Server,
        format!("Redis at {at} gave no known answer to {op} of lock `{key}`"),
    )
}
