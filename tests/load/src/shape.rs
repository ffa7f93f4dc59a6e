//! Shapes of load: what a task's operations are like.

use crate::op::{Ending, Inner, Op, Patience};
use crate::random::Random;
use crate::{MS, Nanos, SECOND};

/// What the tasks of a process do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// All write.
    ManyWriters,
    /// One in ten writes.
    OneWriterManyReaders,
    /// Half of them write.
    Even,
    /// Explicit owners, who take locks again while they hold them.
    Owners,
    /// Take it or leave it.
    Tries,
    /// Waits end before the lock is had.
    Timeouts,
    /// Futures are dropped at any await point.
    Cancels,
    /// Many tasks of one process pass one lock on.
    Local,
    /// A lock of one's own, mostly.
    ManyKeys,
    /// Several locks at once.
    Several,
}

/// How often which is drawn. Fixed before any mutant was tried, and not tuned to them.
const SHAPES: [(u32, Shape); 10] = [
    (4, Shape::ManyWriters),
    (4, Shape::OneWriterManyReaders),
    (3, Shape::Even),
    (2, Shape::Owners),
    (2, Shape::Tries),
    (3, Shape::Timeouts),
    (4, Shape::Cancels),
    (4, Shape::Local),
    (1, Shape::ManyKeys),
    (2, Shape::Several),
];

impl Shape {
    /// One of them.
    pub fn draw(random: &mut Random) -> Self {
        random.weighted(&SHAPES)
    }

    /// How many tasks a process has.
    pub fn tasks(self, random: &mut Random) -> u64 {
        match self {
            Self::Local => random.within(4, 14),
            Self::OneWriterManyReaders => random.within(2, 7),
            _ => random.within(1, 5),
        }
    }

    fn writes(self) -> u32 {
        match self {
            Self::ManyWriters | Self::Local => 950,
            Self::OneWriterManyReaders => 100,
            Self::Even | Self::Timeouts | Self::Cancels => 500,
            Self::Owners | Self::Tries | Self::ManyKeys | Self::Several => 600,
        }
    }

    /// The operation with this number of a task.
    #[must_use]
    pub fn op(self, locks: usize, lease: Nanos, mut random: Random) -> Op {
        let random = &mut random;
        let lock = match self {
            Self::ManyKeys => random.below(locks.max(4)),
            Self::Local => 0,
            _ => random.below(locks),
        };
        let mut op = Op {
            locks: vec![lock],
            write: random.chance(self.writes()),
            patience: Patience::Forever,
            owner: None,
            cancel: None,
            hold: self.hold(lease, random),
            min_hold: None,
            until_lost: false,
            inner: None,
            ending: random.weighted(&[
                (6, Ending::Release),
                (3, Ending::Drop),
                (1, Ending::Cancelled),
            ]),
            rest: self.rest(random),
        };
        if random.chance(80) {
            op.patience = Patience::For(random.scaled(MS, 3 * SECOND));
        }
        if random.chance(30) {
            op.cancel = Some(cut_short(random));
        }
        self.adjust(&mut op, locks, random);
        op
    }

    fn adjust(self, op: &mut Op, locks: usize, random: &mut Random) {
        match self {
            Self::Tries if random.chance(700) => op.patience = Patience::Try,
            Self::Timeouts => op.patience = Patience::For(random.scaled(100_000, 2 * SECOND)),
            Self::Cancels if random.chance(500) => op.cancel = Some(cut_short(random)),
            Self::Owners => {
                op.owner = Some(random.below(3));
                if random.chance(500) {
                    op.inner = Some(Inner {
                        write: random.chance(500),
                        patience: random.scaled(MS, SECOND),
                    });
                }
            }
            Self::Several => {
                for _ in 0..random.within(1, 4) {
                    let lock = random.below(locks.max(3));
                    if !op.locks.contains(&lock) {
                        op.locks.push(lock);
                    }
                }
            }
            _ => {}
        }
        op.until_lost = op.hold > 20 * MS && random.chance(200);
    }

    /// How long locks are held: mostly short, now and then longer than a lease.
    fn hold(self, lease: Nanos, random: &mut Random) -> Nanos {
        match (self, random.within(0, 100)) {
            (_, 0..2) => random.within(lease / 2, lease * 2).min(8 * SECOND),
            (Self::Local, 2..70) | (_, 2..15) => 0,
            (_, 15..85) => random.scaled(50_000, 4 * MS),
            _ => random.scaled(MS, 60 * MS),
        }
    }

    fn rest(self, random: &mut Random) -> Nanos {
        match (self, random.within(0, 100)) {
            (Self::Local, 0..80) | (_, 0..30) => 0,
            (_, 30..90) => random.scaled(20_000, 5 * MS),
            _ => random.scaled(MS, 300 * MS),
        }
    }
}

/// At which turn a future is dropped: any of the first few is as likely.
fn cut_short(random: &mut Random) -> u64 {
    random.within(1, 14)
}
