//! The servers under the locks, and what they count.

mod commands;
mod site;

pub(crate) use self::{
    commands::Commands,
    site::{Away, Site},
};

/// The lines `name:value` of a reply to `INFO`.
fn fields(info: &str) -> impl Iterator<Item = (&str, &str)> {
    info.lines().filter_map(|line| line.trim().split_once(':'))
}
