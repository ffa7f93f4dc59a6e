//! Numbers that scripts pass to commands, as text.

use crate::server::config::Flavour;

/// How a server writes a number that a script passes: whole numbers with all their digits.
pub(super) fn numeral(number: f64, flavour: Flavour) -> String {
    // Up to where each writes whole numbers as such.
    let most = if flavour >= Flavour::Redis80 {
        4.6e18
    } else {
        1e17
    };
    if number.fract() == 0.0 && number.abs() < most {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "it is a whole number in the range"
        )]
        return (number as i64).to_string();
    }
    if flavour >= Flavour::Redis80 {
        shortest(number)
    } else {
        seventeen(number)
    }
}

/// As C's `%.17g`.
fn seventeen(number: f64) -> String {
    if !number.is_finite() {
        return special(number);
    }
    let (digits, exponent) = parts(&format!("{number:.16e}"));
    if (-4..17).contains(&exponent) {
        let places = usize::try_from(16 - exponent).unwrap_or(0);
        let fixed = format!("{number:.places$}");
        return if fixed.contains('.') {
            fixed.trim_end_matches('0').trim_end_matches('.').into()
        } else {
            fixed
        };
    }
    scientific(number, digits.trim_end_matches('0'), exponent, 2)
}

/// The fewest digits that mean this number, as Redis 8 and Valkey write them.
fn shortest(number: f64) -> String {
    if !number.is_finite() {
        return special(number);
    }
    let (digits, exponent) = parts(&format!("{number:e}"));
    let after = exponent - i32::try_from(digits.len()).unwrap_or(0) + 1;
    let size = exponent.abs();
    let sign = if number < 0.0 { "-" } else { "" };
    if after >= 0 && size < i32::try_from(digits.len()).unwrap_or(0) + 7 {
        return format!(
            "{sign}{digits}{}",
            "0".repeat(usize::try_from(after).unwrap_or(0))
        );
    }
    if after < 0 && (after > -7 || size < 4) {
        return format!("{number}");
    }
    scientific(number, &digits, exponent, 1)
}

fn special(number: f64) -> String {
    match number {
        _ if number.is_nan() => "-nan".into(),
        _ if number > 0.0 => "inf".into(),
        _ => "-inf".into(),
    }
}

/// The digits without point and sign, and the exponent of the first one.
fn parts(scientific: &str) -> (String, i32) {
    let (digits, exponent) = scientific.split_once('e').unwrap_or((scientific, "0"));
    let digits = digits.chars().filter(char::is_ascii_digit).collect();
    (digits, exponent.parse().unwrap_or(0))
}

fn scientific(number: f64, digits: &str, exponent: i32, least: usize) -> String {
    let sign = if number < 0.0 { "-" } else { "" };
    let (first, rest) = digits.split_at(1);
    let point = if rest.is_empty() { "" } else { "." };
    let (exponent_sign, size) = if exponent < 0 {
        ('-', -exponent)
    } else {
        ('+', exponent)
    };
    format!("{sign}{first}{point}{rest}e{exponent_sign}{size:0least$}")
}

#[cfg(test)]
mod tests {
    use super::{Flavour, numeral};

    #[test]
    fn numbers_are_written_as_servers_do() {
        for (number, old, new) in [
            (
                1_760_000_000_000_000.0,
                "1760000000000000",
                "1760000000000000",
            ),
            (
                9_007_199_254_740_991.0,
                "9007199254740991",
                "9007199254740991",
            ),
            (0.1, "0.10000000000000001", "0.1"),
            (-2.5, "-2.5", "-2.5"),
            (1e20, "1e+20", "1e+20"),
            (1.5e-7, "1.4999999999999999e-07", "1.5e-7"),
        ] {
            assert_eq!(numeral(number, Flavour::Redis70), old);
            assert_eq!(numeral(number, Flavour::Redis80), new);
        }
    }
}
