//! What traces show: spans and events with rendered keys, which metrics must not have. A side room
//! as `metrics` is; empty without the feature `tracing`.

#[cfg(not(feature = "tracing"))]
mod off;
#[cfg(feature = "tracing")]
mod on;

#[cfg(not(feature = "tracing"))]
pub(crate) use off::{AcquireTrace, Entered, HeldTrace, lost, unheard};
#[cfg(feature = "tracing")]
pub(crate) use on::{AcquireTrace, Entered, HeldTrace, lost, unheard};
