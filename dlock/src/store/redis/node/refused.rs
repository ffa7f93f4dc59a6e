//! A server that refuses everybody.

use std::time::Duration;

use crate::backoff::jitter;
use crate::clock::Instant;
use crate::store::redis::wire::ServerError;

/// How long the server is left alone, at the least and at the most; for a tenth of the time that it has refused, in between.
const REST: (Duration, Duration) = (Duration::from_millis(10), Duration::from_millis(500));

/// The server refuses everybody, which it may do because it is too busy. One request at a time tries whether it still does;
/// the longer it does, the more seldom.
pub(super) struct Refused {
    since: Instant,
    pub(super) next_try: Instant,
    pub(super) said: ServerError,
}

impl Refused {
    /// The server has refused a request; `before` if it did so already.
    pub(super) fn again(before: Option<Self>, said: &ServerError, now: Instant) -> Self {
        let since = before.map_or(now, |before| before.since);
        let rest = ((now - since) / 10).clamp(REST.0, REST.1);
        Self {
            since,
            next_try: now + jitter(rest),
            said: said.clone(),
        }
    }
}
