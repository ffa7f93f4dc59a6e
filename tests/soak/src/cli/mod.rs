//! The command line.

mod options;
pub(crate) mod report;

pub(crate) use self::options::Options;
