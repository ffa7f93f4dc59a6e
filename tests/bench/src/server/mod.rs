//! The servers under the locks, and what they count.

mod commands;
mod site;

pub(crate) use self::{
    commands::Commands,
    site::{Away, Site},
};
