//! What servers are sent, what that costs, and what they must not be able to do.

mod classic_messages;
mod commands;
mod growth;
mod lean_scripts;
mod quick_ways;
mod redis_store;
mod rights;
mod spec;
mod tls;
