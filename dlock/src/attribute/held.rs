//! The lock that the running function holds.

use std::sync::Arc;

use crate::key::LockKey;
use crate::lock::Hold;
use crate::{Client, Error, FencingToken, Mode};

/// The lock under which an annotated function runs.
///
/// Named with `guard = name`, or asked for with [`current`](crate::current). It tells about the lock but
/// does not keep it: the function's end releases, however many clones there are.
#[derive(Clone, Debug)]
pub struct Held(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    client: Client,
    hold: Arc<Hold>,
    /// Of this grant; a hold that is passed on among tasks has more than one.
    token: FencingToken,
    /// The lock taken before this one in the same task.
    outer: Option<Held>,
}

impl Held {
    pub(super) fn new(
        client: Client,
        hold: Arc<Hold>,
        token: FencingToken,
        outer: Option<Self>,
    ) -> Self {
        Self(Arc::new(Inner {
            client,
            hold,
            token,
            outer,
        }))
    }

    /// The token to send along with what the lock protects.
    #[must_use]
    pub fn fencing_token(&self) -> FencingToken {
        self.0.token
    }

    /// Whether the lock is held for reading or for writing.
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.0.hold.mode
    }

    /// The name of the lock.
    #[must_use]
    pub fn name(&self) -> &str {
        self.0.hold.key.name()
    }

    /// Whether the lease is gone. Reads a clock and sends nothing.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        self.0.hold.loss().is_some()
    }

    /// An error if the lease is gone, for use with `?` before a step that cannot be undone.
    ///
    /// # Errors
    ///
    /// [`is_lost`](Error::is_lost) when somebody else may hold the lock.
    pub fn check(&self) -> Result<(), Error> {
        self.0.hold.check()
    }

    /// Resolves when the lease is gone.
    pub async fn lost(&self) {
        self.0.hold.lost().await;
    }

    /// Whether this is the lock `key` of `client`.
    pub(super) fn is(&self, client: &Client, key: &LockKey) -> bool {
        self.0.hold.key == *key && self.0.client.is_same(client)
    }

    pub(super) fn outer(&self) -> Option<&Self> {
        self.0.outer.as_ref()
    }
}
