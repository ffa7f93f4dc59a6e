//! A mutex that clients in other languages share.

mod foreign;
mod ids;
mod kinds;
mod line;
mod moments;
mod sharing;
