//! Numbers for people.

/// The units that the dashboard uses, by their names in Grafana.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Seconds,
    PerSecond,
    Share,
    Count,
}

impl Unit {
    pub(super) fn of(name: &str) -> Self {
        match name {
            "s" => Self::Seconds,
            "ops" => Self::PerSecond,
            "percentunit" => Self::Share,
            _ => Self::Count,
        }
    }

    pub(super) fn show(self, value: f64) -> String {
        match self {
            _ if value == 0.0 => "0".to_owned(),
            Self::Seconds if value < 0.000_999_5 => format!("{} µs", short(value * 1e6)),
            Self::Seconds if value < 0.999_5 => format!("{} ms", short(value * 1e3)),
            Self::Seconds => format!("{} s", short(value)),
            Self::PerSecond => format!("{}/s", short(value)),
            Self::Share => format!("{} %", short(value * 100.0)),
            Self::Count => short(value),
        }
    }
}

/// Three digits, without zeros at the end.
fn short(value: f64) -> String {
    let text = match value {
        v if v >= 99.95 => return format!("{v:.0}"),
        v if v >= 9.995 => format!("{v:.1}"),
        v => format!("{v:.2}"),
    };
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Steps of 1, 2 or 5 with any number of zeros: at most so many up to `max`, which is above zero.
pub(super) fn steps(max: f64, most: f64) -> f64 {
    let least = max / most;
    let power = 10_f64.powf(least.log10().floor());
    let factor = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .find(|factor| factor * power >= least * 0.999);
    factor.unwrap_or(10.0) * power
}

#[cfg(test)]
mod tests {
    use super::{Unit, steps};

    #[test]
    fn values_have_the_unit_that_suits_them() {
        for (unit, value, shown) in [
            (Unit::Seconds, 0.000_25, "250 µs"),
            (Unit::Seconds, 0.0125, "12.5 ms"),
            (Unit::Seconds, 0.999_9, "1 s"),
            (Unit::PerSecond, 1234.4, "1234/s"),
            (Unit::Share, 0.5, "50 %"),
            (Unit::Count, 3.0, "3"),
            (Unit::Count, 0.0, "0"),
        ] {
            assert_eq!(unit.show(value), shown);
        }
    }

    #[test]
    fn steps_are_round() {
        for (max, step) in [(0.9, 0.5), (3.0, 1.0), (4.0, 2.0), (700.0, 500.0)] {
            assert!((steps(max, 3.0) / step - 1.0).abs() < 1e-9, "{max}");
        }
    }
}
