//! Futures that are dropped at any of their await points.

use std::pin::Pin;
use std::task::{Context, Poll};

/// Polls a future so often at most: nothing comes of it then.
#[derive(Debug)]
pub struct CutShort<F> {
    future: Option<Pin<Box<F>>>,
    polls: Option<u64>,
}

impl<F: Future> CutShort<F> {
    /// All polls there are for `None`.
    pub fn new(future: F, polls: Option<u64>) -> Self {
        Self {
            future: Some(Box::pin(future)),
            polls,
        }
    }
}

impl<F: Future> Future for CutShort<F> {
    type Output = Option<F::Output>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if let Some(polls) = &mut self.polls {
            if *polls == 0 {
                self.future = None;
                return Poll::Ready(None);
            }
            *polls -= 1;
        }
        let last = self.polls == Some(0);
        let Some(future) = &mut self.future else {
            return Poll::Ready(None);
        };
        let polled = future.as_mut().poll(cx);
        if polled.is_pending() && last {
            // It would be dropped at the next wake-up; a caller that drops it does so now.
            self.future = None;
            return Poll::Ready(None);
        }
        polled.map(Some)
    }
}
