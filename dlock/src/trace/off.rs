//! Nothing.

use std::marker::PhantomData;

use crate::error::{Error, LossReason};
use crate::key::LockKey;
use crate::mode::LockMode;
use crate::token::FencingToken;

pub(crate) struct AcquireTrace;

pub(crate) struct HeldTrace;

pub(crate) struct Entered<'a>(PhantomData<&'a HeldTrace>);

impl HeldTrace {
    pub(crate) fn enter(&self) -> Entered<'_> {
        Entered(PhantomData)
    }
}

#[expect(clippy::unused_self, reason = "the same calls as with tracing")]
impl AcquireTrace {
    pub(crate) fn new(_: &LockKey, _: LockMode) -> Self {
        Self
    }

    pub(crate) fn follow<F: Future>(&self, acquire: F) -> F {
        acquire
    }

    pub(crate) fn held(&self, _: &LockKey, _: LockMode, _: FencingToken) -> HeldTrace {
        HeldTrace
    }

    pub(crate) fn busy(&self) {}

    pub(crate) fn failed(&self, _: &Error) {}
}

pub(crate) fn lost(_: &LockKey, _: LockMode, _: FencingToken, _: LossReason) {}

pub(crate) fn unheard(_: &str) {}
