//! Durations in tables.

use std::time::Duration;

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

    use super::short;

    #[test]
    fn times_are_written_short() {
        for (millis, text) in [(7, "7ms"), (24_120, "24.1s"), (600_000, "10m")] {
            assert_eq!(short(Duration::from_millis(millis)), text);
        }
    }
}
