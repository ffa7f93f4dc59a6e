//! What tasks do with locks, drawn from a seed: shapes of load, the operations of a task, and the locks of dlock's that it asks
//! for. The simulation and the soak draw from the same shapes, the one in virtual time, the other in real processes.

mod cut_short;
mod guard;
mod handle;
mod locks;
mod op;
mod random;
mod shape;

pub use self::cut_short::CutShort;
pub use self::guard::DlockGuard;
pub use self::handle::Handle;
pub use self::locks::{LockKind, Mutexes};
pub use self::op::{Ending, Inner, Op, Patience};
pub use self::random::Random;
pub use self::shape::Shape;

/// Nanoseconds.
pub type Nanos = u64;

/// A millisecond.
pub const MS: Nanos = 1_000_000;
/// A second.
pub const SECOND: Nanos = 1000 * MS;
