//! Times on the command line.

use std::time::Duration;

/// Reads `500ms`, `10s`, `1.5m`, `2h`; a bare number counts seconds.
pub(crate) fn parse(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let seconds = match &text[digits.len()..] {
        "ms" => 0.001,
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        unit => return Err(format!("unknown unit `{unit}`; use ms, s, m or h")),
    };
    let number: f64 = digits
        .parse()
        .map_err(|_| "a number and a unit, such as 500ms, 10s, 5m, 1h".to_owned())?;
    Duration::try_from_secs_f64(number * seconds).map_err(|error| error.to_string())
}

/// Writes a time in four characters or so.
pub(crate) fn short(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    match time.as_secs() {
        0 => format!("{:.0}ms", seconds * 1000.0),
        1..100 => format!("{seconds:.1}s"),
        100..6000 => format!("{:.0}m", seconds / 60.0),
        _ => format!("{:.1}h", seconds / 3600.0),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{parse, short};

    #[test]
    fn times_are_read() {
        for (text, millis) in [
            ("0", 0),
            ("500ms", 500),
            ("10s", 10_000),
            ("1.5m", 90_000),
            ("2", 2_000),
            ("1h", 3_600_000),
        ] {
            assert_eq!(parse(text), Ok(Duration::from_millis(millis)), "{text}");
        }
        for text in ["", "s", "-1s", "1d", "1e30h", "ten"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn times_are_written_short() {
        for (millis, text) in [(7, "7ms"), (24_120, "24.1s"), (600_000, "10m")] {
            assert_eq!(short(Duration::from_millis(millis)), text);
        }
    }
}
