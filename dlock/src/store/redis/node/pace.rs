//! How often the waiters of one client look, all together.

use std::time::Duration;

use crate::clock::Instant;
use crate::random;

/// The time between two looks of those whom messages wake as well, and of the others: beyond some 700 waiters, or some 20,
/// each looks less often than usual.
const BEAT: Duration = Duration::from_micros(400);
const POLL: Duration = Duration::from_millis(1);

/// The longest pause. Places in a line are kept for three times as long.
const LONGEST: Duration = Duration::from_secs(1);

/// By how much longer requests have to take than usual for pauses to double.
const DOUBLED: Duration = Duration::from_millis(20);

/// When the next look is due, of those of either kind.
#[derive(Debug, Default)]
pub(super) struct Pace {
    beat: Option<Instant>,
    poll: Option<Instant>,
}

impl Pace {
    /// The pause of one more, now that requests take so much longer than they have to.
    pub(super) fn pause(
        &mut self,
        now: Instant,
        usual: Duration,
        told: bool,
        excess: Duration,
    ) -> Duration {
        let (next, apart) = if told {
            (&mut self.beat, BEAT)
        } else {
            (&mut self.poll, POLL)
        };
        // Over a slow server all are slower.
        let slower = 1.0 + excess.as_secs_f64() / DOUBLED.as_secs_f64();
        let stretched = usual.mul_f64(slower.min(100.0));
        let turn = next.map_or(now, |next| next.max(now));
        if turn - now < LONGEST {
            *next = Some(turn + apart.mul_f64(slower.min(100.0)));
        }
        let pause = stretched.max(turn - now);
        // Those that are too many all the same do not come all at once.
        pause.min(LONGEST.mul_f64(1.0 - random::f64() / 4.0).max(usual))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{LONGEST, Pace};
    use crate::clock::Instant;

    const USUAL: Duration = Duration::from_millis(300);
    const NONE: Duration = Duration::ZERO;

    #[test]
    fn a_few_look_as_usual_and_very_many_less_often() {
        let (mut pace, now) = (Pace::default(), Instant::now());
        for _ in 0..700 {
            assert_eq!(pace.pause(now, USUAL, true, NONE), USUAL);
        }
        let pauses: Vec<_> = (0..10_000)
            .map(|_| pace.pause(now, USUAL, true, NONE))
            .collect();
        assert!(pauses[1000] > USUAL * 2, "{:?}", pauses[1000]);
        assert!(pauses.iter().all(|pause| *pause <= LONGEST));
        // After a second, it is as if they had never been.
        let later = now + 2 * LONGEST;
        assert_eq!(pace.pause(later, USUAL, true, NONE), USUAL);
    }

    #[test]
    fn over_a_slow_server_all_look_less_often_and_none_too_seldom() {
        let (mut pace, now) = (Pace::default(), Instant::now());
        let slow = Duration::from_millis(40);
        let pause = pace.pause(now, USUAL, true, slow);
        assert!(pause > USUAL * 2, "{pause:?}");
        let pause = pace.pause(now, USUAL, true, slow * 100);
        assert!(pause <= LONGEST && pause >= LONGEST / 2, "{pause:?}");
        let usual = LONGEST * 2;
        assert_eq!(pace.pause(now, usual, true, slow), usual);
    }
}
