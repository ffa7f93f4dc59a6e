//! What is written to Redis and read from it: operations as commands and scripts, answers as replies, refusals, views
//! and pushes. Nobody else makes commands or looks into answers; all rooms may call it, and carry both unread. It
//! imports none of the other rooms but that of addresses, and knows neither connections nor settings.
//!
//! `encode.rs` and `decode.rs` are the operations and their replies, `refusal.rs` reads `MOVED` and its like. What the
//! scripts do is in `../lua`: one file for each operation on a read/write lock, in `lua/mutex` one for each on a mutex, and in
//! `lua/common` what they share: the record, the holds, the line and its order.

mod decode;
mod encode;
mod greeting;
mod hello;
mod identity;
mod info;
mod listing;
mod load;
mod publish;
mod push;
mod refusal;
mod request;
mod rights;
mod script;
mod subscription;
mod value;
mod view;

pub use decode::decode;
pub(super) use decode::{is_granted, notes, tells_of_line};
pub use encode::{Keys, encode, encode_brief, encode_plain};
pub(super) use greeting::{greeting, time};
pub(super) use hello::{Role, hello};
pub(super) use identity::{identity, who_are_you};
pub(super) use listing::{forget_token, found, scan};
pub use load::ScriptLoad;
pub(super) use load::command_statistics;
pub(super) use publish::{
    Offer, PublishMode, publish_all, try_publishing, try_publishing_by_script,
};
pub(super) use push::Push;
pub(super) use refusal::{
    Refusal, Said, is_denied, is_for_later, is_of_all, refusal, unless_refused,
};
pub(super) use request::{Form, Preface, command};
pub(super) use rights::{Rule, missing_right};
pub use script::{Script, source};
pub(super) use subscription::{is_end, is_pong, ping, subscribe_all, unsubscribe_all};
pub(super) use view::{Range, View, slots_and_epoch};

/// What others carry unread.
pub(super) use redis::{Cmd, Pipeline, ServerError, Value};
