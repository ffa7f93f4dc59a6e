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
