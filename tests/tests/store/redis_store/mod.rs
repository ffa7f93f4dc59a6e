//! The Redis store by itself against real servers: routing, batches, wake-ups.

mod batch;
mod connect;
mod faults;
mod pubsub;
mod redirects;
mod rig;
mod storm;
mod under_way;
