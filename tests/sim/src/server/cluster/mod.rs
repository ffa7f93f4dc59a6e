//! What a server of a cluster knows of the others, and the nodes that it redirects clients to. Used by the server itself and by
//! `admin`.

mod beat;
mod claims;
mod ranges;
mod redirect;
mod slot;
mod view;
mod watch;

pub(super) use self::beat::Beat;
pub(super) use self::redirect::{Redirect, Wish};
pub(super) use self::slot::slot_of;
pub(super) use self::view::View;
