//! What dlock promises, from outside, against real servers.

mod cancel;
mod company;
mod crash;
mod dead_waiters;
mod drain;
mod drop_safety;
mod drops;
mod ends;
mod exclusion;
mod forged;
mod forgotten;
mod gate;
mod linger;
mod min_hold;
mod mutex;
mod owners;
mod places;
mod quorum;
mod renewals;
mod rules;
mod slices;
mod waits;
