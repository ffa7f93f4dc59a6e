//! Times as people write them.

use std::fmt;
use std::time::Duration;

/// Writes `250ms`, `2s`, `1m 30s`, `24h`. Whole milliseconds are what somebody chose, and stay as they are; others were
/// measured, and are rounded to two digits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Written(pub(crate) Duration);

impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nanos = rounded(self.0.as_nanos());
        if nanos == 0 {
            return f.write_str("0s");
        }
        if nanos < SECOND {
            return write!(f, "{}ms", fraction(nanos, MILLISECOND));
        }
        let (minutes, rest) = (nanos / MINUTE, nanos % MINUTE);
        let (hours, minutes) = (minutes / 60, minutes % 60);
        let mut space = "";
        for (count, unit) in [(hours, "h"), (minutes, "m")] {
            if count > 0 {
                write!(f, "{space}{count}{unit}")?;
                space = " ";
            }
        }
        if rest > 0 {
            write!(f, "{space}{}s", fraction(rest, SECOND))?;
        }
        Ok(())
    }
}

const MILLISECOND: u128 = 1_000_000;
const SECOND: u128 = 1000 * MILLISECOND;
const MINUTE: u128 = 60 * SECOND;

fn rounded(nanos: u128) -> u128 {
    let mut digit = 1;
    if !nanos.is_multiple_of(MILLISECOND) {
        while nanos / digit >= 100 {
            digit *= 10;
        }
    }
    (nanos + digit / 2) / digit * digit
}

/// How many units that is, with three decimals at most.
fn fraction(nanos: u128, unit: u128) -> String {
    let (whole, thousandths) = (nanos / unit, nanos % unit * 1000 / unit);
    let decimals = format!(".{thousandths:03}");
    format!(
        "{whole}{}",
        decimals.trim_end_matches('0').trim_end_matches('.')
    )
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Written;

    #[test]
    fn times_are_written_as_people_write_them() {
        for (nanos, text) in [
            (0, "0s"),
            (120_456, "0.12ms"),
            (1_500_000, "1.5ms"),
            (50_000_000, "50ms"),
            (199_999_999, "200ms"),
            (999_999_999, "1s"),
            (1_550_000_000, "1.55s"),
            (1_995_098_987, "2s"),
            (30_000_000_000, "30s"),
            (90_000_000_000, "1m 30s"),
            (90_123_456_789, "1m 30s"),
            (5_400_000_000_000, "1h 30m"),
            (86_400_001_000_000, "24h 0.001s"),
        ] {
            let written = Written(Duration::from_nanos(nanos)).to_string();
            assert_eq!(written, text, "{nanos}");
        }
    }
}
