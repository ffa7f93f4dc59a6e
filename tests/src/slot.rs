//! The hash slot of a key, computed here so that tests do not trust the crate under test.

/// Number of hash slots of a Redis Cluster.
pub const SLOTS: u16 = 16384;

/// The slot of `key`: CRC16 of its hash tag, or of the whole key when it has none.
#[must_use]
pub fn slot_of(key: &str) -> u16 {
    let tag = key
        .split_once('{')
        .and_then(|(_, rest)| rest.split_once('}'))
        .map(|(tag, _)| tag)
        .filter(|tag| !tag.is_empty());
    crc16::State::<crc16::XMODEM>::calculate(tag.unwrap_or(key).as_bytes()) % SLOTS
}
