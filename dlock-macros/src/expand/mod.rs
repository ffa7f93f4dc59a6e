//! The generated code. It is thin: what it does is in the crate's `__private` module.

mod body;
mod erase;
mod failure;
mod request;
mod span;

pub(crate) use self::body::expand;
use self::span::mixed_at;
