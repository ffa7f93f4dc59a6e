//! The language of Redis: operations as commands and scripts, answers as replies, refusals, views and pushes. No other
//! room makes commands or looks into answers; all rooms may call it, and carry both unread. It imports none of the
//! other rooms but that of addresses, and knows neither connections nor settings.
//!
//! `encode.rs` and `decode.rs` are the operations and their replies, `dialect.rs` what differs between the kinds of locks, and
//! `refusal.rs` reads `MOVED` and its like. `server.rs` is what a server says of itself. What the scripts do is in `../lua`: one
//! file for each operation on a read/write lock, in `lua/mutex` one for each on a mutex, and in `lua/common` what they share: the
//! record, the holds, the line and its order.

mod arguments;
mod decode;
mod dialect;
mod encode;
mod pubsub;
mod refusal;
mod script;
mod server;
mod view;

pub use decode::decode;
pub(super) use decode::{found_alone, is_granted, notes, tells_of_line};
pub(super) use encode::{Form, Preface, command};
pub use encode::{Keys, encode, encode_brief, encode_plain};
pub(super) use pubsub::{
    Offer, PublishMode, Push, is_end, is_pong, ping, publish_all, subscribe_all, try_publishing,
    try_publishing_by_script, unsubscribe_all,
};
pub(super) use refusal::{
    Refusal, Rule, Said, is_denied, is_for_later, is_of_all, missing_right, refusal, unless_refused,
};
pub use script::{Script, source};
pub use server::ScriptLoad;
pub(super) use server::{
    Role, command_statistics, forget_token, found, greeting, hello, identity, scan, time,
    who_are_you,
};
pub(super) use view::{Range, View, slots_and_epoch};

/// What others carry unread.
pub(super) use redis::{Cmd, Pipeline, ServerError, Value};
