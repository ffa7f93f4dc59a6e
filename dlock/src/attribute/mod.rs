//! What the attribute's expansion runs on, and what its bodies can ask.

mod client;
mod context;
mod grant;
mod held;
mod report;
mod request;
mod run;

pub use self::client::AsClient;
pub use self::context::current;
pub use self::grant::Grant;
pub use self::held::Held;
pub use self::report::{LockResult, is_busy, on_busy, report};
pub use self::request::Request;
use self::run::Run;
