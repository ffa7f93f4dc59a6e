//! The command-line tool against real servers.

mod errors;
mod look;
mod loss;
mod run;
mod signals;
mod terminal;
mod tool;
mod top;
