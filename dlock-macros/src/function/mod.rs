//! The function under the attribute.

mod bindings;
mod deferred;
mod item;
mod shape;

pub(crate) use self::bindings::bindings;
pub(crate) use self::deferred::{Deferred, deferred};
pub(crate) use self::item::Function;
pub(crate) use self::shape::Shape;
