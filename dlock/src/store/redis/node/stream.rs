//! The stream to a server.

use std::io;
#[cfg(not(dlock_sim))]
use std::time::Duration;

#[cfg(not(dlock_sim))]
use futures_util::future::select_ok;
#[cfg(not(dlock_sim))]
use redis::io::tcp::socket2::{SockRef, TcpKeepalive};
#[cfg(not(dlock_sim))]
use tokio::net::{TcpStream, lookup_host};

use crate::store::redis::address::Address;

/// How long the other end may leave data or probes unacknowledged.
#[cfg(not(dlock_sim))]
const KEEPALIVE: Duration = Duration::from_secs(5);

/// Connects to a server; tries all addresses of the host at the same time.
///
/// **The seam to the network**: every connection of the crate begins here, and what drives it takes any stream of bytes.
/// A replacement of this function runs everything above on another network.
#[cfg(not(dlock_sim))]
pub(super) async fn open(address: &Address) -> io::Result<TcpStream> {
    let found = lookup_host((&*address.host, address.port)).await?;
    let connecting: Vec<_> = found.map(|at| Box::pin(TcpStream::connect(at))).collect();
    if connecting.is_empty() {
        let nowhere = "the host name has no address";
        return Err(io::Error::new(io::ErrorKind::NotFound, nowhere));
    }
    let (stream, _) = select_ok(connecting).await?;
    stream.set_nodelay(true)?;
    let socket = SockRef::from(&stream);
    let keepalive = TcpKeepalive::new()
        .with_time(KEEPALIVE)
        .with_interval(KEEPALIVE / 5);
    socket.set_tcp_keepalive(&keepalive)?;
    #[cfg(any(target_os = "linux", target_os = "android"))]
    socket.set_tcp_user_timeout(Some(KEEPALIVE))?;
    Ok(stream)
}

/// Connects to a simulated server.
#[cfg(dlock_sim)]
pub(super) async fn open(address: &Address) -> io::Result<crate::sim::Stream> {
    crate::sim::Stream::open(&address.host, address.port).await
}
