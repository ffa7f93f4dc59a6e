//! Replies, and whether two are the same but for the time that has passed.

use std::fmt;

/// A reply, or what comes unasked.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Value {
    Line(char, String),
    Bulk(Vec<u8>),
    Many(char, Vec<Value>),
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(kind, line) => write!(f, "{kind}{line}"),
            Self::Bulk(text) => write!(f, "{:?}", String::from_utf8_lossy(text)),
            Self::Many(kind, items) => write!(f, "{kind}{items:?}"),
        }
    }
}

impl Value {
    /// Reads one from the start of the bytes; how long it is.
    pub(crate) fn read(bytes: &[u8]) -> Option<(Self, usize)> {
        let end = bytes.windows(2).position(|pair| pair == b"\r\n")?;
        let kind = char::from(bytes[0]);
        let line = String::from_utf8_lossy(&bytes[1..end]).into_owned();
        let mut at = end + 2;
        let count = || line.parse::<i64>().expect("a length");
        match kind {
            '$' | '=' if count() >= 0 => {
                let length = usize::try_from(count()).expect("it is not negative");
                let text = bytes.get(at..at + length)?.to_vec();
                (bytes.len() >= at + length + 2).then_some((Self::Bulk(text), at + length + 2))
            }
            '*' | '~' | '>' | '%' if count() >= 0 => {
                let items = if kind == '%' { 2 * count() } else { count() };
                let mut all = Vec::new();
                for _ in 0..items {
                    let (item, length) = Self::read(&bytes[at..])?;
                    all.push(item);
                    at += length;
                }
                if kind == '%' {
                    all = sorted(&all);
                }
                Some((Self::Many(kind, all), at))
            }
            _ => Some((Self::Line(kind, line), at)),
        }
    }

    pub(crate) fn is_error(&self) -> bool {
        matches!(self, Self::Line('-', _))
    }

    /// Whether this is `text`.
    pub(crate) fn is(&self, text: &str) -> bool {
        matches!(self, Self::Bulk(bytes) if bytes == text.as_bytes())
    }

    /// Sorts ranges of slots, if that is what this is.
    pub(crate) fn sort_ranges(&mut self) {
        let first = |range: &Self| match range {
            Self::Many('*', parts) => match parts.first() {
                Some(Self::Line(':', slot)) if parts.len() > 2 => slot.parse::<u16>().ok(),
                _ => None,
            },
            _ => None,
        };
        if let Self::Many('*', ranges) = self
            && ranges.iter().all(|range| first(range).is_some())
        {
            ranges.sort_by_key(first);
        }
    }

    /// What a push of this kind is about.
    pub(crate) fn pushed(&self, kind: &str) -> Option<&Self> {
        match self {
            Self::Many('>', parts) if parts[0].is(kind) => parts.get(1),
            _ => None,
        }
    }

    /// Whether both are numbers that differ by no more than that.
    fn is_about(&self, other: &Self, most: u64) -> bool {
        let number = |value: &Self| match value {
            Self::Line(':', line) => line.parse::<u64>().ok(),
            _ => None,
        };
        let apart = number(self).zip(number(other)).map(|(a, b)| a.abs_diff(b));
        apart.is_some_and(|apart| apart <= most)
    }

    /// Whether the other is the same, but for times that differ by so many microseconds or milliseconds at most.
    pub(crate) fn is_like(&self, other: &Self, micros: u64) -> bool {
        match (self, other) {
            (Self::Line(kind, line), Self::Line(of, other)) => {
                kind == of && alike(line.as_bytes(), other.as_bytes(), micros)
            }
            (Self::Bulk(text), Self::Bulk(other)) => alike(text, other, micros),
            (Self::Many(kind, items), Self::Many(of, others)) => {
                let mut pairs = items.iter().zip(others).enumerate();
                kind == of
                    && items.len() == others.len()
                    && pairs.all(|(at, (item, other))| {
                        item.is_like(other, micros)
                            || is_span(items, at) && item.is_about(other, micros)
                    })
            }
            _ => false,
        }
    }
}

/// Whether this is the time that a client has held or waited, in the flat lists of an inspection: spans begin at nothing.
fn is_span(items: &[Value], at: usize) -> bool {
    [(6, 4), (4, 3)].into_iter().any(|(fields, span)| {
        let has_mode = |one: &[Value]| one[1].is("r") || one[1].is("w");
        at % fields == span
            && items.len().is_multiple_of(fields)
            && items.chunks(fields).all(has_mode)
    })
}

/// The pairs of a map in one order.
fn sorted(items: &[Value]) -> Vec<Value> {
    let mut pairs: Vec<Vec<Value>> = items.chunks(2).map(<[_]>::to_vec).collect();
    pairs.sort_by_key(|pair| format!("{:?}", pair[0]));
    pairs.concat()
}

/// Texts in which large numbers differ by a little.
fn alike(text: &[u8], other: &[u8], micros: u64) -> bool {
    if text == other {
        return true;
    }
    let parts = |text: &[u8]| -> Vec<Vec<u8>> {
        let runs = text.chunk_by(|a, b| a.is_ascii_digit() == b.is_ascii_digit());
        runs.map(<[u8]>::to_vec).collect()
    };
    let (parts, others) = (parts(text), parts(other));
    parts.len() == others.len()
        && parts.iter().zip(&others).all(|(part, other)| {
            let number = |text: &[u8]| std::str::from_utf8(text).ok()?.parse::<u64>().ok();
            match (number(part), number(other)) {
                (Some(a), Some(b)) => {
                    a == b || a.min(b) >= 500 && a.abs_diff(b) <= micros.min(a.min(b) / 2)
                }
                _ => part == other,
            }
        })
}

#[cfg(test)]
mod tests {
    use super::Value;

    #[test]
    fn only_times_may_differ_and_only_a_little() {
        let bulk = |text: &str| Value::Bulk(text.into());
        for (a, b, same) in [
            ("w 1760000000000001 1", "w 1760000000000500 1", true),
            ("w 1760000000000001 1", "w 1760000000000001 2", false),
            ("w 1760000000000001 1", "r 1760000000000001 1", false),
            ("1760000000000001", "1760000002000001", false),
        ] {
            assert_eq!(bulk(a).is_like(&bulk(b), 1000), same, "{a} {b}");
        }
    }

    #[test]
    fn how_long_somebody_has_held_may_differ_from_the_first_moment_on() {
        let holder = |left: u64, held: u64| {
            let number = |number: u64| Value::Line(':', number.to_string());
            let text = |text: &str| Value::Bulk(text.into());
            let fields = [
                text("a/1"),
                text("w"),
                number(left),
                number(7),
                number(held),
                text(""),
            ];
            Value::Many('*', fields.into())
        };
        for (a, b, same) in [
            (holder(9000, 0), holder(8700, 300), true),
            (holder(9000, 0), holder(9000, 1001), false),
            (holder(9, 0), holder(8, 0), false),
        ] {
            assert_eq!(a.is_like(&b, 1000), same, "{a:?} {b:?}");
        }
    }
}
