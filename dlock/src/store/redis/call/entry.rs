//! What may be sent now.

use crate::clock::Instant;
use crate::protocol::Op;
use crate::store::redis::node::{NoAnswer, Node, Permit, Unsent};
use crate::store::redis::wire::{Value, is_of_all, refusal};

/// The right to send a request to a node: acquires share a budget, all else goes first.
#[must_use = "dropping it lets another one send"]
pub(super) struct Entry<'n>(Option<Permit<'n>>);

impl<'n> Entry<'n> {
    /// Acquires are what there can be very many of without an end. What renews or ends something is never kept waiting.
    pub(super) fn is_counted(op: &Op) -> bool {
        matches!(op, Op::Acquire { .. })
    }

    /// Now, if there is room.
    pub(super) fn try_at(node: &'n Node, op: &Op, now: Instant) -> Option<Self> {
        if !Self::is_counted(op) {
            return Some(Self(None));
        }
        node.budget.try_enter(now).map(|permit| Self(Some(permit)))
    }

    /// Once it is its turn.
    pub(super) async fn at(
        node: &'n Node,
        op: &Op,
        deadline: Instant,
        elsewhere: impl Future<Output = ()>,
    ) -> Result<Self, Unsent> {
        if !Self::is_counted(op) {
            return Ok(Self(None));
        }
        let permit = node.budget.enter(deadline, elsewhere).await?;
        Ok(Self(Some(permit)))
    }

    /// The answer takes longer than it may.
    pub(super) fn late(&self, sent: Instant) {
        if let Some(permit) = &self.0 {
            permit.late(sent);
        }
    }

    /// The request that left then has come to its end.
    pub(super) fn ended(self, sent: Instant, result: &Result<Value, NoAnswer>) {
        let Some(permit) = self.0 else { return };
        let refusal = result.as_ref().ok().and_then(refusal);
        match (refusal.filter(|error| is_of_all(error)), result) {
            (Some(error), _) => permit.refused(error),
            (None, Ok(_) | Err(NoAnswer::Silence)) => permit.ended(sent, result.is_ok()),
            (None, Err(_)) => {}
        }
    }
}
