//! Redlock: one lock on several independent servers. The client that holds it on most of them is the holder.
//!
//! | noun | means |
//! |---|---|
//! | member | one of the servers (or clusters), with what is known of it |
//! | majority | more than half of the members, whether they answer or not |
//! | attempt | one try to get the lock, under an id of its own at all members, undone unless it wins |
//! | outbox | the messages to a member that are pending while no caller waits for them |
//! | ledger | at which members a hold of this client may be recorded |
//! | refusals | what is known of holds that keep contenders out |
//!
//! An `attempt` acquires; `rounds` says which members it asks and for how long it waits, `grants` what their answers come to, and
//! `contention` when to try again. `fan` sends an operation on a hold, or a question, to all members; `hold` says what the answers
//! mean. `health` asks members that are down, and makes sure that no two are the same. Called by the store; knows the other two
//! stores and no `Store`.

mod attempt;
mod contention;
mod fan;
mod grants;
mod health;
mod hold;
mod ledger;
mod member;
mod members;
mod outbox;
#[expect(
    clippy::module_inception,
    reason = "the room is named after its main noun"
)]
mod quorum;
mod rounds;
mod store;

pub(crate) use quorum::Site;
pub(crate) use store::QuorumStore;
