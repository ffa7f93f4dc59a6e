//! The future of a body under its lock.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;

use super::owned::{End, OwnedLocks};
use super::{CallGuard, Holds, Loss, context};
use crate::Error;

pin_project! {
    /// Polls the body while the lease lasts, drops it, releases, returns.
    ///
    /// Written by hand because an `async fn` would hold the body twice: as its argument and while it waits.
    #[must_use = "futures do nothing unless polled"]
    pub(super) struct Run<F: Future, H: Holds, L, M, R> {
        // Declared, hence dropped, before the locks: a cancelled body is gone before the lock is free.
        #[pin]
        body: Option<F>,
        #[pin]
        lost: Option<L>,
        held: H,
        // What the body sees as its current lock.
        innermost: Option<CallGuard>,
        outcome: Option<Result<F::Output, Error>>,
        // Whether a loss is the caller's business.
        tells: bool,
        owned: Option<OwnedLocks>,
        make_release: M,
        #[pin]
        release: Option<R>,
    }

    impl<F: Future, H: Holds, L, M, R> PinnedDrop for Run<F, H, L, M, R> {
        fn drop(this: Pin<&mut Self>) {
            let this = this.project();
            let _traced = this.owned.as_ref().and_then(OwnedLocks::enter_trace);
            drop_body(this.held.each(), this.innermost, this.body);
        }
    }
}

impl<F, H, L, M, R> Run<F, H, L, M, R>
where
    F: Future,
    H: Holds,
    M: FnMut(OwnedLocks, End) -> R,
{
    pub(super) fn new(
        held: H,
        innermost: Option<CallGuard>,
        lost: Option<L>,
        body: F,
        owned: OwnedLocks,
        make_release: M,
    ) -> Self {
        Self {
            body: Some(body),
            tells: lost.is_some(),
            lost,
            held,
            innermost,
            outcome: None,
            owned: Some(owned),
            make_release,
            release: None,
        }
    }
}

impl<F, H, L, M, R> Future for Run<F, H, L, M, R>
where
    F: Future,
    H: Holds,
    L: Future<Output = Error>,
    M: FnMut(OwnedLocks, End) -> R,
    R: Future<Output = Option<Error>>,
{
    type Output = Result<F::Output, Loss<F::Output>>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        if let Some(body) = this.body.as_mut().as_pin_mut() {
            let _traced = this.owned.as_ref().and_then(OwnedLocks::enter_trace);
            let outcome = ready!(poll_body(
                this.held.each(),
                this.innermost,
                this.lost.as_mut(),
                body,
                cx
            ));
            // The body holds what it works on: it goes before anyone hears of the end.
            drop_body(this.held.each(), this.innermost, this.body);
            this.lost.set(None);
            *this.outcome = Some(outcome);
        }
        if let Some(owned) = this.owned.take() {
            let end = match this.outcome {
                Some(Err(_)) => End::Stopped,
                _ => End::OfItself,
            };
            this.release.set(Some((this.make_release)(owned, end)));
        }
        let mut loss = None;
        if let Some(release) = this.release.as_mut().as_pin_mut() {
            loss = ready!(release.poll(cx));
            this.release.set(None);
        }
        match this.outcome.take() {
            None => Poll::Pending,
            Some(Err(error)) => Poll::Ready(Err(Loss::stopped(error))),
            Some(Ok(output)) if !*this.tells => Poll::Ready(Ok(output)),
            Some(Ok(output)) => {
                // What an outer call has taken is not released here, so it has not been checked yet.
                let outer = this
                    .held
                    .each()
                    .iter()
                    .filter(|held| held.is_of_outer_call());
                let loss = loss.or_else(|| outer.map(CallGuard::check).find_map(Result::err));
                Poll::Ready(match loss {
                    Some(error) => Err(Loss::noticed_late(error, output)),
                    None => Ok(output),
                })
            }
        }
    }
}

/// An outer call's lock, entered again here, whose call this has left: it goes on elsewhere.
fn left(held: &[CallGuard]) -> Option<&CallGuard> {
    let mut outer = held.iter().filter(|held| held.is_of_outer_call());
    outer.find(|held| !context::is_within(held))
}

/// Drops the body under its lock, which a destructor may enter again; without it where the outer call has been left.
fn drop_body<F>(
    held: &[CallGuard],
    innermost: &mut Option<CallGuard>,
    mut body: Pin<&mut Option<F>>,
) {
    if body.is_some() {
        let _current = match left(held) {
            None => context::enter(innermost),
            Some(_) => None,
        };
        body.set(None);
    }
}

/// One step of the body, unless a lease is gone, and then none ever again.
fn poll_body<F: Future, L: Future<Output = Error>>(
    held: &[CallGuard],
    innermost: &mut Option<CallGuard>,
    lost: Pin<&mut Option<L>>,
    body: Pin<&mut F>,
    cx: &mut Context<'_>,
) -> Poll<Result<F::Output, Error>> {
    let lost = lost.as_pin_mut();
    if let Some(left) = left(held) {
        return Poll::Ready(Err(left.has_been_left()));
    }
    if lost.is_some() {
        // Reads the clock: after a pause of the whole process no timer has fired yet.
        held.iter().try_for_each(CallGuard::check)?;
    }
    let stepped = {
        let _current = context::enter(innermost);
        body.poll(cx)
    };
    if let Poll::Ready(output) = stepped {
        return Poll::Ready(Ok(output));
    }
    match lost {
        Some(lost) => lost.poll(cx).map(Err),
        None => Poll::Pending,
    }
}
