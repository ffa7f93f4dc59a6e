//! The arguments of the attribute as they are written, before anyone asks what they mean.

mod arg;
mod name;

pub(crate) use self::arg::{Arg, Args, string};
pub(crate) use self::name::Name;
