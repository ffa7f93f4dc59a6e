//! Redlock: one lock on several servers that know nothing of one another, held by whoever holds it on most of them.
//!
//! | noun | means |
//! |---|---|
//! | member | one of the servers (or clusters), with what is known of it |
//! | majority | more than half of the members, whether they answer or not |
//! | attempt | one try to get the lock, under an id of its own at all members, undone unless it wins |
//! | outbox | what a member has still to be told although nobody waits for that |
//! | ledger | at which members a hold of this client may be recorded |
//! | refusals | what is known of holds that keep contenders out |
//!
//! `attempt` acquires, with its further rounds in `rounds` and what they come to in `grants`; `fan` is the way of all that is told about a hold,
//! `renewal` and `release` what its answers mean. `ask` has the questions; `probe` asks members that are down, and `roster` makes
//! sure that no two are the same.
//! Called by the store; knows the other two stores and no `Store`.

mod aftermath;
mod ask;
mod attempt;
mod count;
mod fan;
mod grants;
mod health;
mod ledger;
mod member;
mod members;
mod merge;
mod open;
mod outbox;
mod pauses;
mod probe;
#[expect(
    clippy::module_inception,
    reason = "the room is named after its main noun"
)]
mod quorum;
mod refusals;
mod release;
mod renewal;
mod roster;
mod rounds;
mod server;
mod store;
mod tries;

pub(crate) use open::Site;
pub(crate) use store::QuorumStore;
