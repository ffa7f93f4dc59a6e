//! The command-line tool against real servers.

mod errors;
mod lines;
mod look;
mod loss;
mod mutexes;
mod names;
mod quorum;
mod run;
mod signals;
mod terminal;
mod tool;
mod top;
mod waiting;
mod watch;
