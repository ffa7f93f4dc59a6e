//! The contenders: a library, and the program that uses it.

use std::{ffi::OsString, fmt, path::Path};

use clap::ValueEnum;

/// One of the libraries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum Side {
    Dlock,
    RedisPy,
    NodeRedlock,
}

impl Side {
    /// Whether it can have a lock on most of several servers.
    pub(crate) fn knows_quorums(self) -> bool {
        self != Self::RedisPy
    }

    /// Its program and the first argument; the arguments that all programs take follow.
    pub(crate) fn program(self, python: &Path) -> (OsString, OsString) {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("contenders");
        let own = || std::env::current_exe().expect("this program has a path");
        match self {
            Self::Dlock => (own().into(), "contender".into()),
            Self::RedisPy => (python.into(), folder.join("contender.py").into()),
            Self::NodeRedlock => ("node".into(), folder.join("contender.js").into()),
        }
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&word(self))
    }
}

/// A value as command lines have it.
pub(crate) fn word(value: &impl ValueEnum) -> String {
    let value = value.to_possible_value().expect("no value is hidden");
    value.get_name().to_owned()
}
