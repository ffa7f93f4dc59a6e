//! When a script does something else than the specification and is right, too, so that a comparison has to end.

use dlock::__internals::Op;
use dlock_tests::Record;

/// How long a place is kept after its end, in microseconds.
pub(crate) const KEPT: u64 = 10_000_000;

/// In small pieces: whether a client came or left, and there was so much to clear away, or so many waiters without a
/// subscription, that the script may have left the rest to the next request. The specification has no such pieces.
pub(crate) fn may_have_left_work(
    op: &Op,
    before: &Record,
    after: &Record,
    now: u64,
    told: usize,
) -> bool {
    let moves = op.passes_on() || matches!(op, Op::Acquire { .. } | Op::Raise { .. });
    moves && (is_over(before, now) || is_over(after, now) || told > 2)
}

/// Whether the lock's time goes on ahead of the server's although all that is recorded is over: a script that has no
/// reason to look at the holds does not notice that the lock is free. The specification does, and goes back to the
/// server's time.
pub(crate) fn is_free_unnoticed(record: &Record, time: u64) -> bool {
    let now = record.now(time);
    let live = ends(record).any(|end| end > now);
    let ahead = record.offset > 0 || record.noted > record.last;
    ahead && !live && ends(record).next().is_some()
}

/// Whether anything is over that is still recorded.
fn is_over(record: &Record, now: u64) -> bool {
    ends(record).any(|end| end <= now)
}

/// When holds end, and places are not kept any more.
fn ends(record: &Record) -> impl Iterator<Item = u64> {
    let (writers, readers) = (&record.writers.places, &record.readers.places);
    let places = writers.values().chain(readers.values());
    let holds = record.holds.values().map(|hold| hold.deadline);
    holds.chain(places.map(|place| place.deadline + KEPT))
}
