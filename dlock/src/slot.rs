//! Which of the cluster's 16384 slots a key lives in.

use std::fmt;

use crc16::{State, XMODEM};

/// A slot of a Redis Cluster: CRC16 (XMODEM) of the hash tag, modulo 16384.
///
/// Source: the Redis Cluster specification, "Key distribution model" and "Hash tags".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Slot(u16);

impl Slot {
    /// How many slots a cluster has.
    pub const COUNT: u16 = 16384;

    /// The slot of a key.
    ///
    /// ```
    /// use dlock::Slot;
    /// assert_eq!(Slot::of("{user1000}.following"), Slot::of("{user1000}.followers"));
    /// assert_eq!(Slot::of("123456789").as_u16(), 12739);
    /// ```
    #[must_use]
    pub fn of(key: &str) -> Self {
        Self::of_tag(hash_tag(key).unwrap_or(key))
    }

    /// The slot of keys with this hash tag.
    pub(crate) fn of_tag(tag: &str) -> Self {
        Self(State::<XMODEM>::calculate(tag.as_bytes()) % Self::COUNT)
    }

    /// The slot's number, 0 to 16383.
    #[must_use]
    pub fn as_u16(self) -> u16 {
        self.0
    }
}

impl fmt::Display for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The part of a key that decides its slot: what stands between the first `{` and the next `}`,
/// when there is something between them.
pub(crate) fn hash_tag(key: &str) -> Option<&str> {
    // Names are short: looking at bytes is faster here than searching for characters.
    let find = |from: &str, brace| from.bytes().position(|byte| byte == brace);
    let rest = &key[find(key, b'{')? + 1..];
    let tag = &rest[..find(rest, b'}')?];
    (!tag.is_empty()).then_some(tag)
}

#[cfg(test)]
mod tests {
    use super::hash_tag;

    #[test]
    fn hash_tag_follows_the_cluster_specification() {
        for (key, tag) in [
            ("plain", None),
            ("{a}b", Some("a")),
            ("x{a}{b}", Some("a")),
            ("foo{}{bar}", None),
            ("foo{{bar}}zap", Some("{bar")),
            ("open{", None),
            ("}{a}", Some("a")),
        ] {
            assert_eq!(hash_tag(key), tag, "{key}");
        }
    }
}
