//! The locks of one call.

use std::sync::Arc;

use futures_util::future::join_all;

use super::Held;
use crate::Client;
use crate::lock::Share;

/// A lock that tells whoever still looks at it when it goes.
#[derive(Debug)]
pub(super) struct Owned {
    held: Held,
    share: Option<Share>,
}

impl Owned {
    pub(super) fn new(client: &Client, share: Share, outer: Option<Held>) -> Self {
        Self {
            held: Held::new(
                client.clone(),
                Arc::clone(share.hold()),
                share.token(),
                outer,
            ),
            share: Some(share),
        }
    }

    pub(super) fn held(&self) -> &Held {
        &self.held
    }

    async fn release(mut self) {
        self.held.end();
        if let Some(share) = self.share.take() {
            // The body has run: what it returned is what counts, and the client records a failed release.
            drop(share.release().await);
        }
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        self.held.end();
    }
}

/// What a call has to give back: nothing if it entered a lock again, more than one with `keys`.
#[derive(Debug, Default)]
pub(super) struct OwnedLocks {
    first: Option<Owned>,
    more: Vec<Owned>,
}

impl OwnedLocks {
    pub(super) fn push(&mut self, owned: Owned) {
        if self.first.is_none() {
            self.first = Some(owned);
        } else {
            self.more.push(owned);
        }
    }

    pub(super) async fn release(self) {
        match self.first {
            Some(only) if self.more.is_empty() => only.release().await,
            first => {
                let all = first.into_iter().chain(self.more);
                join_all(all.map(Owned::release)).await;
            }
        }
    }
}
