//! Locks that were had, and what happens under them.

use std::task::Poll;

use futures_util::future::{Either, ready};

use super::call_guard::first_loss;
use super::owned::{End, OwnedLocks};
use super::{CallGuard, Holds, Loss, Run, context};
use crate::Client;

/// The locks of one call: its own, or those of an outer call which it shares.
///
/// `H` is [`CallGuard`], a vector of them with `keys`, or an `Option` in a function that locks only `when`
/// something is true.
#[derive(Debug)]
#[must_use]
pub struct Grant<H = CallGuard> {
    held: H,
    innermost: Option<CallGuard>,
    owned: OwnedLocks,
    client: Option<Client>,
    cancel: bool,
}

impl<H: Holds> Grant<H> {
    pub(super) fn new(
        held: H,
        innermost: Option<CallGuard>,
        owned: OwnedLocks,
        client: Client,
        cancel: bool,
    ) -> Self {
        Self {
            held,
            innermost,
            owned,
            client: Some(client),
            cancel,
        }
    }

    /// The grant for a function that may also run without the lock.
    pub fn optional(self) -> Grant<Option<H>> {
        Grant {
            held: Some(self.held),
            innermost: self.innermost,
            owned: self.owned,
            client: self.client,
            cancel: self.cancel,
        }
    }

    /// What `guard = name` binds.
    #[must_use]
    pub fn held(&self) -> H {
        self.held.clone()
    }

    /// What it binds with `lock = "mutex"`.
    #[must_use]
    pub fn mutex_held(&self) -> H::Plain {
        self.held.clone().plain()
    }

    /// Runs `body` under the locks and releases them. If a lease is lost the body is dropped,
    /// unless it shall continue; if it has ended before that could be done, what it returned is
    /// in the loss.
    pub fn run<F: Future>(
        self,
        body: F,
    ) -> impl Future<Output = Result<F::Output, Loss<F::Output>>> {
        let lost = self.cancel.then(|| first_loss(self.held.clone()));
        Run::new(
            self.held,
            self.innermost,
            lost,
            body,
            self.owned,
            |mut owned: OwnedLocks, end| match owned.release_at_once(end) {
                Poll::Ready(noticed) => Either::Left(ready(noticed)),
                // Boxed, as it lies beside the body, and the bodies of nested calls in one another.
                Poll::Pending => Either::Right(Box::pin(owned.release(end))),
            },
        )
    }

    /// Runs `body` on this thread and releases the locks. It cannot be stopped when a lease is lost.
    pub fn run_blocking<T>(mut self, body: impl FnOnce() -> T) -> T {
        let output = {
            let _traced = self.owned.enter_trace();
            let _current = context::enter(&mut self.innermost);
            body()
        };
        if let Some(client) = self.client.filter(|_| !self.owned.is_empty()) {
            // A thread that may not wait has the locks released in the background, by dropping them.
            drop(client.wait(self.owned.release(End::OfItself)));
        }
        output
    }
}

impl<H: Holds> Grant<Option<H>> {
    /// No lock at all, as `when = ..` said.
    pub fn unlocked() -> Self {
        Self {
            held: None,
            innermost: None,
            owned: OwnedLocks::default(),
            client: None,
            cancel: false,
        }
    }
}
