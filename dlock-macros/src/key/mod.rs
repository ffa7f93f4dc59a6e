//! Keys: what is locked, as a template with captures or as an expression.

mod capture;
mod template;

pub(crate) use self::capture::Capture;
pub(crate) use self::template::Template;
