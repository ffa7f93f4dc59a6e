//! Foreign text in messages: names and server replies may contain any character.

use std::borrow::Cow;
use std::fmt;

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

#[cfg(test)]
mod tests {
    use super::{Quoted, plain};

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
}
