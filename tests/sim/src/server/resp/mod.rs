//! The protocol between clients and servers: requests in, replies out.

mod reply;
mod request;

pub(super) use self::reply::Reply;
pub(super) use self::request::{Parsed, parse};
