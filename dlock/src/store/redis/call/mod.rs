//! Getting operations carried out: the ordinary way of one (`caller.rs`), the way of one that is redirected or has to
//! be sent again (`route.rs`, which also says what follows from `MOVED` and other refusals), many for one node
//! (`batch.rs`), and questions that are about no lock (`questions.rs`): which locks there are, which server answers, and
//! what the servers offer.
//! Only the store calls; it asks `topology` where, `node` for a connection, and `wire` what to say.

mod batch;
mod caller;
mod crowds;
mod questions;
mod route;

pub(super) use caller::Caller;
pub(crate) use questions::Link;
pub(super) use questions::{ask_who_it_is, probe};
