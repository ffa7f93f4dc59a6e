//! Texts in messages: foreign ones, which may contain any character, and times as people write them.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

/// How many characters of a foreign text an error repeats.
const MOST: usize = 200;

/// The text with control characters and line breaks escaped, as in a literal of Rust.
#[must_use]
pub fn plain(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return text.into();
    }
    let mut plain = String::with_capacity(text.len());
    // Quotes and backslashes do no harm, so they stay as they are.
    let harmless = ['\'', '"', '\\'];
    for piece in text.split_inclusive(harmless) {
        let body = piece.trim_end_matches(harmless);
        plain.extend(body.escape_debug());
        plain.push_str(&piece[body.len()..]);
    }
    plain.into()
}

/// A foreign text, escaped and cut.
pub(crate) struct Quoted<T>(pub(crate) T);

impl<T: fmt::Display> fmt::Display for Quoted<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.0.to_string();
        match text.char_indices().nth(MOST) {
            Some((end, _)) => write!(f, "{}…", plain(&text[..end])),
            None => f.write_str(&plain(&text)),
        }
    }
}

/// Writes `250ms`, `2s`, `1m 30s`, `24h`. A setting has whole milliseconds and is written exactly; any other duration
/// was measured, and is rounded to two digits.
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

    use super::{Quoted, Written, plain};

    #[test]
    fn nothing_steers_a_terminal_and_the_rest_stays_as_it_is() {
        for (text, shown) in [
            ("order:42 'x' \"y\" \\n", "order:42 'x' \"y\" \\n"),
            ("größe:日本 e\u{301}", "größe:日本 e\u{301}"),
            ("a\x1b[2Jb\r\nc\td\0", "a\\u{1b}[2Jb\\r\\nc\\td\\0"),
            ("a\u{9b}2J\u{7f}", "a\\u{9b}2J\\u{7f}"),
            (
                "safe\u{202e}cod.exe\u{2028}",
                "safe\\u{202e}cod.exe\\u{2028}",
            ),
            ("'\n'", "'\\n'"),
        ] {
            assert_eq!(plain(text), shown);
        }
    }

    #[test]
    fn a_long_text_is_cut_between_two_characters() {
        let shown = Quoted("日".repeat(100_000)).to_string();
        assert_eq!(shown, "日".repeat(200) + "…");
        assert_eq!(Quoted("x".repeat(200)).to_string(), "x".repeat(200));
    }

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
