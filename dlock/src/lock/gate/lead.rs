//! The task that asks the server on behalf of its process.

use std::fmt;
use std::sync::Arc;

use super::{Gates, Terms};
use crate::client::Inner;
use crate::error::Error;
use crate::key::LockKey;
use crate::lock::hold::Hold;
use crate::lock::holding::Holding;

/// The right and duty to ask the server. Dropping it hands the duty to the next in line.
#[must_use = "dropping it makes the next task ask"]
pub(in crate::lock) struct Lead {
    inner: Option<Arc<Inner>>,
    key: LockKey,
    /// A hold whose slice is over: to go on with if the server agrees.
    holding: Option<Holding>,
}

impl Lead {
    pub(super) fn new(inner: &Arc<Inner>, key: &LockKey, holding: Option<Holding>) -> Self {
        Self {
            inner: Some(Arc::clone(inner)),
            key: key.clone(),
            holding,
        }
    }

    /// The hold whose slice is over, if there is one.
    pub(in crate::lock) fn take_holding(&mut self) -> Option<Holding> {
        self.holding.take()
    }

    /// The server granted a new hold.
    pub(in crate::lock) fn granted(mut self, hold: Arc<Hold>, terms: Terms) -> Option<Holding> {
        let inner = self.inner.take()?;
        Some(Gates::granted(inner, hold, terms))
    }

    /// The server agreed to another slice.
    pub(in crate::lock) fn carry_on(mut self, holding: &Holding, terms: Terms) {
        if let Some(inner) = self.inner.take() {
            holding.shared.start_slice();
            inner.gates.carry_on(&inner, &holding.shared, terms);
        }
    }

    /// The asking failed. With an error, those who wait would fare no better.
    pub(in crate::lock) fn failed(mut self, error: Option<&Error>) {
        if let Some(inner) = self.inner.take() {
            inner.gates.gave_up(&inner, &self.key, error);
        }
    }

    /// Takes the duty back before anybody took it up.
    pub(super) fn dissolve(mut self) -> Option<Holding> {
        self.inner = None;
        self.holding.take()
    }
}

impl Drop for Lead {
    fn drop(&mut self) {
        // The hold first, so that the next task finds it given back.
        drop(self.holding.take());
        if let Some(inner) = self.inner.take() {
            inner.gates.gave_up(&inner, &self.key, None);
        }
    }
}

impl fmt::Debug for Lead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lead")
            .field("key", &self.key.as_str())
            .finish_non_exhaustive()
    }
}
