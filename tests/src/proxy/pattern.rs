//! What a request is known by.

use dlock::__internals::{Script, script_source};

/// What some requests contain: one of several pieces of text.
#[derive(Clone, Debug)]
pub struct Pattern(Vec<Vec<u8>>);

impl Pattern {
    /// Whether these are bytes of such a request.
    pub(super) fn matches(&self, bytes: &[u8]) -> bool {
        let is_within = |piece: &Vec<u8>| {
            piece.is_empty() || bytes.windows(piece.len()).any(|part| part == piece)
        };
        self.0.iter().any(is_within)
    }
}

impl From<&str> for Pattern {
    fn from(piece: &str) -> Self {
        Self(vec![piece.into()])
    }
}

impl From<&String> for Pattern {
    fn from(piece: &String) -> Self {
        piece.as_str().into()
    }
}

impl From<&Pattern> for Pattern {
    fn from(pattern: &Pattern) -> Self {
        pattern.clone()
    }
}

/// How a [`FaultProxy`](super::FaultProxy) tells the requests that run this script, by its name or with its text. This is
/// all that the tests of faults know of how requests look.
#[must_use]
pub fn request_of(script: Script) -> Pattern {
    let text = script_source(script);
    let name = redis::Script::new(text).get_hash().to_owned();
    Pattern(vec![name.into(), text.into()])
}
