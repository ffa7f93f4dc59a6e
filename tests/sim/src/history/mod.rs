//! What happened: a hash of everything, to compare two runs, and a timeline to read.

mod trace;

pub(crate) use self::trace::{Kind, Trace};
