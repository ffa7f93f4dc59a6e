//! The slot of a key, computed here so that the simulation does not trust the crate under test.

/// CRC16 of the hash tag, or of the whole key when it has none.
pub(in super::super) fn slot_of(key: &[u8]) -> u16 {
    crc16::State::<crc16::XMODEM>::calculate(tag(key).unwrap_or(key)) % 16384
}

fn tag(key: &[u8]) -> Option<&[u8]> {
    let start = key.iter().position(|byte| *byte == b'{')? + 1;
    let length = key[start..].iter().position(|byte| *byte == b'}')?;
    (length > 0).then(|| &key[start..start + length])
}
