//! What the attribute's expansion runs on, and what its bodies can ask. Called by the code that the macro writes.
//!
//! A `Request` says what is `Wanted`; what it gets is a `Grant`: shares of holds, each behind a [`CallGuard`] that the body can
//! look at, and the `Run` of the body under them.

mod call_guard;
mod call_mutex_guard;
mod client;
mod context;
mod grant;
mod holds;
mod loss;
mod owned;
mod report;
mod request;
mod run;
mod take;
mod wanted;

pub use self::call_guard::CallGuard;
pub use self::call_mutex_guard::CallMutexGuard;
pub use self::client::AsClient;
pub use self::context::{current, current_mutex};
pub use self::grant::Grant;
pub use self::holds::Holds;
pub use self::loss::{Loss, Report};
pub use self::report::{FromLockError, is_busy, on_busy};
pub use self::request::{Request, name};
use self::run::Run;
