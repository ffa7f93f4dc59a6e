//! Getting operations carried out: the ordinary way of one (`caller.rs`), the way of one that is redirected or has to
//! be sent again (`route.rs`; `judge.rs` says what follows from `MOVED` and other refusals), many for one node
//! (`batch.rs`), questions to all (`walk.rs`), which server answers (`identify.rs`), and the try at the start (`probe.rs`).
//! Only the store calls; it asks `topology` where, `node` for a connection, and `wire` what to say.

mod aside;
mod batch;
mod caller;
mod crowds;
mod entry;
mod exchange;
mod identify;
mod judge;
mod notes;
mod probe;
mod route;
mod walk;

pub(super) use caller::Caller;
pub(crate) use identify::Link;
pub(super) use identify::ask_who_it_is;
pub(super) use probe::probe;
