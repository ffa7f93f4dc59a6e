//! Servers that mislead, flood or lie to a client.

mod endless;
mod lies;
mod maze;
mod rig;
mod strangers;
