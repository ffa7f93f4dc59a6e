//! When an operation is carried out.

/// A lock's time stands still for at most this long, in µs, when the server's clock is set back; a larger step is made up
/// for.
const STEP: u64 = 1_000_000;

/// One moment.
#[derive(Debug, Clone, Copy)]
pub(in crate::store::memory) struct Moment {
    /// The server's time in µs.
    pub(super) real: u64,
    /// The lock's time, by which deadlines and tokens go.
    pub(super) now: u64,
    /// How far that is ahead of the server's clock.
    pub(super) offset: u64,
}

impl Moment {
    /// A lock's time does not go back behind the last one that is known, and goes on at the server's pace.
    pub(super) fn of(real: u64, mut offset: u64, known: u64) -> Self {
        let mut now = real + offset;
        if now < known {
            if known - now > STEP {
                offset = known - real;
            }
            now = known;
        }
        Self { real, now, offset }
    }
}
