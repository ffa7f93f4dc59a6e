//! What processes, networks and servers do wrong, and what must hold all the same.

mod demoted;
mod deposed;
mod failover;
mod full_memory;
mod late_requests;
mod lost_reply;
mod migration;
mod moving_mutex;
mod passed_on;
mod quorum_servers;
mod refused_writes;
mod script_faults;
