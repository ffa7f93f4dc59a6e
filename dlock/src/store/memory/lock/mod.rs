//! One lock: what each operation means. All times are server time in microseconds.

mod acquire;
mod hold;
mod inspect;
mod line;
mod moment;
mod mutex;
mod raise;
mod release;
mod renew;
mod state;

pub(super) use mutex::Mutex;
pub(super) use state::Lock;
