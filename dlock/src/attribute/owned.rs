//! The locks of one call.

use std::sync::Arc;
use std::task::Poll;

use futures_util::future::join_all;

use super::CallGuard;
use crate::lock::Share;
use crate::trace::Entered;
use crate::{Client, Error};

/// A lock that notifies its observers when it is dropped.
#[derive(Debug)]
pub(super) struct Owned {
    held: CallGuard,
    share: Share,
}

impl Owned {
    pub(super) fn new(client: &Client, share: Share, before: Option<CallGuard>) -> Self {
        share.hold().begin_use();
        Self {
            held: CallGuard::new(
                client.clone(),
                Arc::clone(share.hold()),
                share.token(),
                before,
            ),
            share,
        }
    }

    pub(super) fn held(&self) -> &CallGuard {
        &self.held
    }

    /// The loss of the lock, if it was lost. Of other failures the client keeps a record, and tries again.
    async fn release(mut self, end: End) -> Option<Error> {
        self.held.end();
        let released = self.share.release_in_place().await;
        self.loss(released, end)
    }

    /// Releases if that takes no time; otherwise does nothing.
    fn release_at_once(&mut self, end: End) -> Poll<Option<Error>> {
        if !self.share.is_at_hand() {
            return Poll::Pending;
        }
        self.held.end();
        let released = self.share.release_at_once();
        Poll::Ready(self.loss(released, end))
    }

    fn loss(&self, released: Result<(), Error>, end: End) -> Option<Error> {
        let loss = released.err().filter(Error::is_lost)?;
        if end == End::OfItself {
            self.held.ended_late();
        }
        Some(loss)
    }
}

/// How a body came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// It returned.
    OfItself,
    /// It was dropped, because a lock was lost.
    Stopped,
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

impl From<Owned> for OwnedLocks {
    fn from(only: Owned) -> Self {
        Self {
            first: Some(only),
            more: Vec::new(),
        }
    }
}

impl OwnedLocks {
    pub(super) fn push(&mut self, owned: Owned) {
        if self.first.is_none() {
            self.first = Some(owned);
        } else {
            self.more.push(owned);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    /// What this thread does is done under the lock that was taken last, as traces tell.
    pub(super) fn enter_trace(&self) -> Option<Entered<'_>> {
        let last = self.more.last().or(self.first.as_ref());
        last?.share.enter_trace()
    }

    /// Releases the only lock, or none, if that takes no time; otherwise nothing is done. The loss, if it was lost.
    pub(super) fn release_at_once(&mut self, end: End) -> Poll<Option<Error>> {
        match &mut self.first {
            None => Poll::Ready(None),
            Some(only) if self.more.is_empty() => only.release_at_once(end),
            Some(_) => Poll::Pending,
        }
    }

    /// The loss of a lock, if one was lost.
    pub(super) async fn release(self, end: End) -> Option<Error> {
        match self.first {
            Some(only) if self.more.is_empty() => only.release(end).await,
            first => {
                let all = first.into_iter().chain(self.more);
                let losses = join_all(all.map(|owned| owned.release(end))).await;
                losses.into_iter().flatten().next()
            }
        }
    }
}
