//! Text from elsewhere, as a terminal may see it: anybody can choose a name.

/// The text with its control characters written out, and those that turn the direction of what follows.
pub(crate) fn shown(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() || turns(c) {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    shown
}

/// Whether a character makes text look like another: marks of direction, and ends of lines and paragraphs.
fn turns(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn what_would_move_the_cursor_is_written_out() {
        for (text, seen) in [
            ("order:42 ö日本", "order:42 ö日本"),
            ("a\u{1b}[2Jb\r\n", r"a\u{1b}[2Jb\r\n"),
            ("\u{7f}\u{9b}", r"\u{7f}\u{9b}"),
            ("\u{202e}txt", r"\u{202e}txt"),
        ] {
            assert_eq!(shown(text), seen);
        }
    }
}
