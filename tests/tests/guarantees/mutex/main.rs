//! A mutex that clients in other languages share.

mod foreign;
mod line;
mod sharing;
