//! Durations as people write them: `"250ms"`, `"30s"`, `"5m"`.

use std::time::Duration;

/// Reads one number with its unit.
pub(crate) fn parse(text: &str) -> Result<Duration, String> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    if number.is_empty() {
        return Err(format!("`{text}` is not a duration; {HOW_TO_WRITE}"));
    }
    let millis_per_unit = match unit.trim() {
        "ms" => 1,
        "s" => 1000,
        "m" => 60_000,
        "h" => 3_600_000,
        "" => {
            return Err(format!(
                "`{text}` has no unit; write \"{text}s\" for seconds or \"{text}ms\" for milliseconds"
            ));
        }
        other => return Err(format!("`{other}` is not a unit of time; {HOW_TO_WRITE}")),
    };
    number
        .parse::<u64>()
        .ok()
        .and_then(|number| number.checked_mul(millis_per_unit))
        .map(Duration::from_millis)
        .ok_or_else(|| format!("`{text}` is longer than a duration can be"))
}

const HOW_TO_WRITE: &str =
    "write a whole number and one of `ms`, `s`, `m`, `h`, as in \"250ms\", \"30s\", \"5m\"";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_every_unit() {
        assert_eq!(parse("250ms"), Ok(Duration::from_millis(250)));
        assert_eq!(parse("30s"), Ok(Duration::from_secs(30)));
        assert_eq!(parse("5 m"), Ok(Duration::from_secs(300)));
        assert_eq!(parse("2h"), Ok(Duration::from_secs(7200)));
        assert_eq!(parse("0s"), Ok(Duration::ZERO));
    }

    #[test]
    fn says_what_is_wrong() {
        let fault = |text| parse(text).expect_err(text);
        assert!(fault("").contains("not a duration"));
        assert!(fault("-5s").contains("not a duration"));
        assert!(fault("5").contains("\"5s\" for seconds"));
        assert!(fault("1.5s").contains("`.5s` is not a unit"));
        assert!(fault("5 sec").contains("`sec` is not a unit"));
        assert!(fault("99999999999999999999s").contains("longer"));
        assert!(fault("99999999999999999h").contains("longer"));
    }
}
