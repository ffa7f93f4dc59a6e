//! What processes saw: written down by each as it happens, in a file that outlives its process, and read back when a round
//! is over.

mod call;
mod journal;
mod read;

#[cfg(test)]
pub(crate) use self::call::Got;
pub(crate) use self::{
    call::{Call, Outcome, Seconds, Who},
    journal::Journal,
    read::{Story, read},
};
