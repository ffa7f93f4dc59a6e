//! How often the waiters of one client look, all together.

use std::time::Duration;

use crate::clock::Instant;
use crate::random;

/// The time between two looks of waiters that messages wake, too (`BEAT`), and of the others (`POLL`): beyond some 700 waiters,
/// or some 20, each looks less often than usual.
const BEAT: Duration = Duration::from_micros(400);
const POLL: Duration = Duration::from_millis(1);

/// The longest pause at a server that answers soon, and at a slow one. Places in a line are kept for three times as long.
///
/// Twenty thousand waiters of 200 clients that ask every second can keep a machine so busy that it stays slow.
const LONGEST: Duration = Duration::from_secs(1);
const LONGEST_SLOW: Duration = Duration::from_secs(4);

/// By how much longer requests have to take than usual for pauses to double, and for the longest pause to do so.
const DOUBLED: Duration = Duration::from_millis(20);
const SLOW: Duration = Duration::from_millis(25);

/// How far apart the moments are at which waiters look, for the shortest pauses that wait for one: those that look at the same
/// moment cost one write and one read together. For pauses twice as long they are twice as far apart, so a pause is at least
/// four of them.
const MOMENTS: Duration = Duration::from_millis(50);
const TO_A_PAUSE: u32 = 4;

/// By how much the pauses of a client are shorter than those of others, at most. Clients with equal pauses would go on asking at
/// the same time, once an overloaded server has answered all of them late.
const APART: f64 = 0.2;

/// When the next look is due, of waiters that messages wake, too, and of the others.
#[derive(Debug, Default)]
pub(super) struct Pace {
    beat: Option<Instant>,
    poll: Option<Instant>,
    own: Option<Own>,
}

/// What differs between clients.
#[derive(Debug, Clone, Copy)]
struct Own {
    /// From when on moments are counted.
    began: Instant,
    /// What its pauses are of usual ones.
    tempo: f64,
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
        // Waiters that are too many all the same do not come all at once.
        let pause = pause.min(longest.mul_f64(1.0 - random::f64() / 4.0).max(usual));
        self.moment_after(now, pause)
    }

    /// The last moment within the pause; its end if it is too short for that. A waiter that is answered soon after its
    /// moment looks again after the whole pause, with the same others.
    fn moment_after(&mut self, now: Instant, pause: Duration) -> Instant {
        let Own { began, tempo } = *self.own.get_or_insert_with(|| Own {
            began: now,
            tempo: 1.0 - random::f64() * APART,
        });
        let mut apart = MOMENTS;
        if pause < TO_A_PAUSE * apart {
            return now + pause;
        }
        while pause >= 2 * TO_A_PAUSE * apart {
            apart *= 2;
        }
        let [pause, apart] = [pause, apart].map(|usual| usual.mul_f64(tempo));
        let late = (now + pause - began).as_nanos() % apart.as_nanos();
        let late = Duration::from_nanos(u64::try_from(late).unwrap_or(0));
        now + pause.saturating_sub(late)
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

    use super::{APART, LONGEST, LONGEST_SLOW, Own, Pace, TO_A_PAUSE};
    use crate::clock::Instant;

    const USUAL: Duration = Duration::from_millis(300);
    const NONE: Duration = Duration::ZERO;

    fn paced(began: Instant) -> Pace {
        let own = Some(Own { began, tempo: 1.0 });
        Pace {
            own,
            ..Pace::default()
        }
    }

    #[test]
    fn a_few_look_as_usual_and_very_many_less_often() {
        let now = Instant::now();
        let mut pace = paced(now);
        for _ in 0..700 {
            assert_eq!(pace.next_look(now, USUAL, true, NONE), now + USUAL);
        }
        let looks: Vec<_> = (0..10_000)
            .map(|_| pace.next_look(now, USUAL, true, NONE))
            .collect();
        assert!(looks[1000] >= now + USUAL * 2, "{:?}", looks[1000] - now);
        assert!(looks.iter().all(|look| *look <= now + LONGEST));
        // After three seconds, it is as if they had never been.
        let later = now + 3 * LONGEST;
        assert_eq!(pace.next_look(later, USUAL, true, NONE), later + USUAL);
    }

    #[test]
    fn over_a_slow_server_all_look_less_often_and_none_too_seldom() {
        let now = Instant::now();
        let mut pace = paced(now);
        let mut pause = |usual, excess| pace.next_look(now, usual, true, excess) - now;
        let slow = Duration::from_millis(40);
        assert!(pause(USUAL, slow) > USUAL * 2);
        let longest = pause(USUAL, slow * 100);
        assert!(longest <= LONGEST_SLOW && longest >= LONGEST, "{longest:?}");
        assert_eq!(pause(LONGEST_SLOW, slow), LONGEST_SLOW);
    }

    #[test]
    fn those_that_come_one_by_one_look_at_few_moments_and_no_more_often() {
        let start = Instant::now();
        let mut pace = paced(start);
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
        assert!(moments.len() < 2 * TO_A_PAUSE as usize, "{moments:?}");
    }

    #[test]
    fn clients_whose_waiters_look_at_the_same_time_do_not_go_on_doing_so() {
        let start = Instant::now();
        let looks = (0..1000).map(|_| {
            let mut pace = Pace::default();
            let answered = Duration::from_millis(1);
            let look = |at, _| pace.next_look(at + answered, LONGEST, true, NONE);
            (0..8).fold(start, look) - start
        });
        let mut looks: Vec<_> = looks.collect();
        looks.sort_unstable();
        let (early, late) = (looks[100], looks[900]);
        assert!(late > early + LONGEST, "{early:?} to {late:?}");
        let shortest = (8 * LONGEST).mul_f64(1.0 - APART);
        assert!(looks[0] + LONGEST / 2 >= shortest, "{:?}", looks[0]);
    }
}
