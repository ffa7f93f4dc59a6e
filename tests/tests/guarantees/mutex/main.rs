//! A mutex that clients in other languages share.

mod foreign;
mod kinds;
mod line;
mod sharing;
