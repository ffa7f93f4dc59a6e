//! How often the waiters of one client look, all together.

use std::time::Duration;

use crate::clock::Instant;
use crate::random;

/// The time between two looks of those whom messages wake as well, and of the others: beyond some 700 waiters, or some 20,
/// each looks less often than usual.
const BEAT: Duration = Duration::from_micros(400);
const POLL: Duration = Duration::from_millis(1);

/// The longest pause at a server that answers soon, and at a slow one. Places in a line are kept for three times as long.
///
/// Twenty thousand waiters of 200 clients that ask every second can keep a machine so busy that it stays slow.
const LONGEST: Duration = Duration::from_secs(1);
const LONGEST_SLOW: Duration = Duration::from_secs(4);

/// By how much longer requests have to take than usual for pauses to double, and for the longest pause to do so.
const DOUBLED: Duration = Duration::from_millis(20);
const SLOW: Duration = Duration::from_millis(100);

/// How far apart the moments are at which waiters look: a quarter of a usual pause, and an eighth of the longest. Those that
/// look at the same moment cost one write and one read together.
const MOMENTS: [Duration; 2] = [Duration::from_millis(75), Duration::from_millis(125)];

/// When the next look is due, of those whom messages wake as well, and of the others.
#[derive(Debug, Default)]
pub(super) struct Pace {
    beat: Option<Instant>,
    poll: Option<Instant>,
    /// From when on moments are counted.
    began: Option<Instant>,
}

impl Pace {
    /// When another waiter looks, now that requests take so much longer than they have to.
    pub(super) fn next_look(
        &mut self,
        now: Instant,
        usual: Duration,
        told: bool,
        excess: Duration,
    ) -> Instant {
        let (next, apart) = if told {
            (&mut self.beat, BEAT)
        } else {
            (&mut self.poll, POLL)
        };
        // Over a slow server all are slower.
        let slower = (1.0 + excess.as_secs_f64() / DOUBLED.as_secs_f64()).min(100.0);
        let longest = longest(excess);
        let turn = next.map_or(now, |next| next.max(now));
        if turn - now < longest {
            *next = Some(turn + apart.mul_f64(slower));
        }
        let pause = usual.mul_f64(slower).max(turn - now);
        // Those that are too many all the same do not come all at once.
        let pause = pause.min(longest.mul_f64(1.0 - random::f64() / 4.0).max(usual));
        self.moment_before(now, now + pause)
    }

    /// The last moment before `due`; `due` itself if the pause is too short for that. A waiter that is answered soon after its
    /// moment looks again after the whole pause, with the same others.
    fn moment_before(&mut self, now: Instant, due: Instant) -> Instant {
        let [few, many] = MOMENTS;
        let apart = match due - now {
            short if short < 4 * few => return due,
            usual if usual < 4 * many => few,
            _ => many,
        };
        let began = *self.began.get_or_insert(now);
        let late = (due - began).as_nanos() % apart.as_nanos();
        let late = Duration::from_nanos(u64::try_from(late).unwrap_or(0));
        now + (due - now).saturating_sub(late)
    }
}

/// The longest pause while requests take so much longer than they have to.
pub(super) fn longest(excess: Duration) -> Duration {
    let slower = 1.0 + excess.as_secs_f64() / SLOW.as_secs_f64();
    LONGEST.mul_f64(slower).min(LONGEST_SLOW)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::time::Duration;

    use super::{LONGEST, LONGEST_SLOW, MOMENTS, Pace};
    use crate::clock::Instant;

    const USUAL: Duration = Duration::from_millis(300);
    const NONE: Duration = Duration::ZERO;

    #[test]
    fn a_few_look_as_usual_and_very_many_less_often() {
        let (mut pace, now) = (Pace::default(), Instant::now());
        for _ in 0..700 {
            assert_eq!(pace.next_look(now, USUAL, true, NONE), now + USUAL);
        }
        let looks: Vec<_> = (0..10_000)
            .map(|_| pace.next_look(now, USUAL, true, NONE))
            .collect();
        assert!(looks[1000] > now + USUAL * 2, "{:?}", looks[1000] - now);
        assert!(looks.iter().all(|look| *look <= now + LONGEST));
        // After three seconds, it is as if they had never been.
        let later = now + 3 * LONGEST;
        assert_eq!(pace.next_look(later, USUAL, true, NONE), later + USUAL);
    }

    #[test]
    fn over_a_slow_server_all_look_less_often_and_none_too_seldom() {
        let (mut pace, now) = (Pace::default(), Instant::now());
        let mut pause = |usual, excess| pace.next_look(now, usual, true, excess) - now;
        let slow = Duration::from_millis(40);
        assert!(pause(USUAL, slow) > USUAL * 2);
        let longest = pause(USUAL, slow * 100);
        assert!(longest <= LONGEST_SLOW && longest >= LONGEST, "{longest:?}");
        assert_eq!(pause(LONGEST * 4, slow), LONGEST * 4);
    }

    #[test]
    fn those_that_come_one_by_one_look_at_few_moments_and_no_more_often() {
        let (mut pace, start) = (Pace::default(), Instant::now());
        let answered = Duration::from_millis(1);
        let first = (0..100).map(|n| pace.next_look(start + n * answered, USUAL, true, NONE));
        let mut looks: Vec<_> = first.collect();
        for _ in 0..10 {
            for look in &mut looks {
                let next = pace.next_look(*look + answered, USUAL, true, NONE);
                assert_eq!(next - *look, USUAL);
                *look = next;
            }
        }
        let moments: BTreeSet<_> = looks.into_iter().collect();
        assert!(moments.len() <= 4, "{moments:?} of {MOMENTS:?}");
    }
}
