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

/// How many waiters look at the same moment. Together they cost one write and one read; more would keep the server, and the
/// caller's own tasks, busy for too long.
const TOGETHER: u32 = 32;

/// The looks of those whom messages wake as well, and of the others.
#[derive(Debug, Default)]
pub(super) struct Pace {
    beat: Looks,
    poll: Looks,
}

/// The looks of one kind.
#[derive(Debug, Default)]
struct Looks {
    /// When there is room for the next one.
    next: Option<Instant>,
    /// The moment at which some look that have been given theirs last, and how many.
    together: Option<(Instant, u32)>,
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
        let (looks, apart) = if told {
            (&mut self.beat, BEAT)
        } else {
            (&mut self.poll, POLL)
        };
        // Over a slow server all are slower.
        let slower = (1.0 + excess.as_secs_f64() / DOUBLED.as_secs_f64()).min(100.0);
        let turn = looks.turn(now, apart.mul_f64(slower));
        let longest = LONGEST.max(usual);
        let pause = usual.mul_f64(slower).max(turn).min(longest);
        looks.together(now, pause, || {
            // Those that are too many all the same do not come all at once.
            now + pause.min(longest.mul_f64(1.0 - random::f64() / 4.0).max(usual))
        })
    }
}

impl Looks {
    /// After how long there is room for another one, if two are so far apart.
    fn turn(&mut self, now: Instant, apart: Duration) -> Duration {
        let turn = self.next.map_or(now, |next| next.max(now));
        if turn - now < LONGEST {
            self.next = Some(turn + apart);
        }
        turn - now
    }

    /// The moment of others, if that is after half the pause at the earliest; from then on they stay together. Otherwise one
    /// of its own.
    fn together(
        &mut self,
        now: Instant,
        pause: Duration,
        alone: impl FnOnce() -> Instant,
    ) -> Instant {
        let fits = now + pause / 2..=now + pause;
        match &mut self.together {
            Some((at, count)) if *count < TOGETHER && fits.contains(at) => {
                *count += 1;
                *at
            }
            together => together.insert((alone(), 1)).0,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::time::Duration;

    use super::{LONGEST, Pace, TOGETHER};
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
        // After a second, it is as if they had never been.
        let later = now + 2 * LONGEST;
        assert_eq!(pace.next_look(later, USUAL, true, NONE), later + USUAL);
    }

    #[test]
    fn over_a_slow_server_all_look_less_often_and_none_too_seldom() {
        let (mut pace, now) = (Pace::default(), Instant::now());
        let mut pause = |usual, excess| pace.next_look(now, usual, true, excess) - now;
        let slow = Duration::from_millis(40);
        assert!(pause(USUAL, slow) > USUAL * 2);
        let longest = pause(USUAL, slow * 100);
        assert!(longest <= LONGEST && longest >= LONGEST / 2, "{longest:?}");
        assert_eq!(pause(LONGEST * 4, slow), LONGEST * 4);
    }

    #[test]
    fn those_that_come_one_by_one_look_together_after_a_while() {
        let (mut pace, start) = (Pace::default(), Instant::now());
        let mut due: BTreeMap<Instant, u32> = BTreeMap::new();
        let count = 3 * TOGETHER;
        for n in 0..count {
            let now = start + n * Duration::from_millis(7);
            *due.entry(pace.next_look(now, USUAL, true, NONE))
                .or_default() += 1;
        }
        let end = start + 20 * USUAL;
        while let Some((at, looking)) = due.pop_first()
            && at < end
        {
            assert!(looking <= TOGETHER, "{looking}");
            for _ in 0..looking {
                *due.entry(pace.next_look(at, USUAL, true, NONE))
                    .or_default() += 1;
            }
        }
        assert!(due.len() <= 4, "{count} look at {} moments", due.len());
    }
}
