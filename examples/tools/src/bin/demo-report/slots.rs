//! What a master was responsible for.

use std::num::ParseIntError;
use std::ops::RangeInclusive;
use std::str::FromStr;

use dlock::Slot;

/// Slots of a cluster.
#[derive(Debug, Clone)]
pub(crate) struct Slots(Vec<RangeInclusive<u16>>);

impl Slots {
    /// Whether the lock of an article was there.
    pub(crate) fn contain_lock_of(&self, sku: &str) -> bool {
        let slot = Slot::of(&format!("dlock:{{sku:{sku}}}")).as_u16();
        self.0.iter().any(|range| range.contains(&slot))
    }
}

impl FromStr for Slots {
    type Err = ParseIntError;

    fn from_str(text: &str) -> Result<Self, ParseIntError> {
        let range = |part: &str| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            Ok(first.parse()?..=last.parse()?)
        };
        text.split(',')
            .map(range)
            .collect::<Result<_, _>>()
            .map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_and_single_slots() -> Result<(), ParseIntError> {
        // CLUSTER KEYSLOT dlock:{sku:apron} is 6188.
        for (text, there) in [
            ("0-5460,6188", true),
            ("6000-6200", true),
            ("0-6187", false),
        ] {
            assert_eq!(
                text.parse::<Slots>()?.contain_lock_of("apron"),
                there,
                "{text}"
            );
        }
        assert!("".parse::<Slots>().is_err());
        Ok(())
    }
}
