//! Making a failing plan smaller, before a person has to read it.

mod smaller;

pub(crate) use self::smaller::shrink_plan;
pub use self::smaller::{Shrunk, shrink};
