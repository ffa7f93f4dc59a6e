//! What the tool uses of the library beside its public items.

pub(crate) use dlock::__internals::{ScriptLoad, parse_duration, plain};
