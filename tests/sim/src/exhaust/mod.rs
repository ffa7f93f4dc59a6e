//! Small scopes whole: every choice is taken in turn instead of being drawn.

mod scope;

pub use self::scope::{Report, cases, exhaust, shrink_case};
