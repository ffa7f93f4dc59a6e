//! A master outside a cluster that has become a replica, and what is lost or kept when that happens: its connections
//! and subscriptions stay.

mod forgotten;
mod masters;
mod patience;
mod replica;
mod servers;
