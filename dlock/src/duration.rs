//! Durations as they are written in settings and on the command line.

use std::time::Duration;

/// Reads `500ms`, `10s`, `1.5m`, `2h`. A bare number counts seconds.
///
/// # Errors
/// What is wrong, and how to write it.
pub fn parse(text: &str) -> Result<Duration, String> {
    read(text, "s")
}

/// Reads a duration that has a unit. A bare number is refused.
pub(crate) fn parse_with_unit(text: &str) -> Result<Duration, String> {
    read(text, "")
}

fn read(text: &str, usual: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let number: f64 = digits
        .trim_end()
        .parse()
        .map_err(|_| "write a number and a unit, such as 500ms, 10s, 5m, 1h".to_owned())?;
    let unit = match &text[digits.len()..] {
        "" => usual,
        unit => unit,
    };
    let seconds = match unit {
        "ms" => 0.001,
        "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        "" => return Err(format!("the unit is missing; write {text}s for seconds")),
        unit => return Err(format!("unknown unit `{unit}`; use ms, s, m or h")),
    };
    Duration::try_from_secs_f64(number * seconds).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{parse, parse_with_unit};

    #[test]
    fn durations_are_read() {
        for (text, millis) in [
            ("0", 0),
            ("500ms", 500),
            ("10s", 10_000),
            ("1.5m", 90_000),
            ("2", 2_000),
            ("1h", 3_600_000),
        ] {
            let read = Ok(Duration::from_millis(millis));
            assert_eq!(parse(text), read, "{text}");
            let has_unit = text.ends_with(|c: char| c.is_ascii_alphabetic());
            assert_eq!(parse_with_unit(text).is_ok(), has_unit, "{text}");
        }
        for text in ["", "s", "-1s", "1d", "1e30h", "ten"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
