//! What the attribute's expansion runs on, and what its bodies can ask.

mod client;
mod context;
mod grant;
mod held;
mod holds;
mod owned;
mod report;
mod request;
mod run;
mod take;
mod wanted;

pub use self::client::AsClient;
pub use self::context::current;
pub use self::grant::Grant;
pub use self::held::Held;
pub use self::holds::Holds;
pub use self::report::{BusyResult, LockResult, is_busy, on_busy, report, report_not_busy};
pub use self::request::{Request, name};
use self::run::Run;
