//! What is written to Redis and read from it: operations as commands and scripts, answers as replies, refusals and views.
//! Nobody else makes commands or looks into answers; other rooms carry them unread. It imports only what stands above
//! the rooms (addresses), and knows neither connections nor settings.

mod decode;
mod encode;
mod greeting;
mod info;
mod publish;
mod request;
mod script;
mod value;
mod view;

pub use decode::decode;
pub(super) use decode::notes;
pub use encode::{encode, encode_plain};
pub(super) use greeting::{greeting, time};
pub(super) use publish::{CurrentMode, PublishMode};
pub(super) use request::{Form, command};
pub use script::{Script, source};
pub(super) use value::text;
pub(super) use view::{Range, View};
