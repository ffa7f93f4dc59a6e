//! What the attribute's expansion runs on, and what its bodies can ask. Called by the code that the macro writes.
//!
//! A `Request` says what is `Wanted`; what it gets is a `Grant`: shares of holds, each behind a [`CallGuard`] that the body can
//! look at, and the `Run` of the body under them.

mod call_guard;
mod context;
mod grant;
mod owned;
mod report;
mod request;
mod run;
mod take;

pub use self::call_guard::{CallGuard, CallMutexGuard, Holds};
pub use self::context::{current, current_mutex};
pub use self::grant::Grant;
pub use self::report::{FromLockError, Loss, Report, is_busy, on_busy};
pub use self::request::{AsClient, Request, name};
use self::run::Run;
