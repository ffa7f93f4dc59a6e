//! The contenders: a library, and the program that uses it.

use std::{ffi::OsString, fmt, path::Path, str::FromStr};

/// One of the libraries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Dlock,
    RedisPy,
    NodeRedlock,
}

impl Side {
    pub(crate) const ALL: [Self; 3] = [Self::Dlock, Self::RedisPy, Self::NodeRedlock];
    /// The sides that can have a lock on most of several servers.
    pub(crate) const OF_QUORUMS: [Self; 2] = [Self::Dlock, Self::NodeRedlock];

    /// How its program is called, before the arguments that all have.
    pub(crate) fn program(self, python: &Path) -> (OsString, Vec<OsString>) {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("contenders");
        match self {
            Self::Dlock => {
                let own = std::env::current_exe().expect("this program has a path");
                (own.into(), vec!["contender".into()])
            }
            Self::RedisPy => (python.into(), vec![folder.join("contender.py").into()]),
            Self::NodeRedlock => ("node".into(), vec![folder.join("contender.js").into()]),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Dlock => "dlock",
            Self::RedisPy => "redis-py",
            Self::NodeRedlock => "node-redlock",
        }
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Side {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|side| side.name() == text);
        found.ok_or_else(|| format!("no side is called `{text}`"))
    }
}
