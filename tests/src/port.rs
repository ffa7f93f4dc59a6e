//! Ports that no other program uses: not another test, not another test process, not an outgoing connection.

use std::{
    net::{Ipv4Addr, SocketAddr, TcpListener},
    os::{
        linux::net::SocketAddrExt,
        unix::net::{SocketAddr as UnixAddr, UnixListener},
    },
    sync::atomic::{AtomicU16, Ordering},
};

/// A cluster node listens on its port and on the bus port this far above.
const BUS_OFFSET: u16 = 10_000;
/// Server ports from here; with their bus ports they end below the ephemeral range (32768 on Linux), so
/// that no outgoing connection takes one.
const FIRST: u16 = 12_000;
const COUNT: u16 = 10_000;

/// Listens on a free loopback port, for a runtime.
pub(crate) fn listen() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("loopback has a port");
    listener
        .set_nonblocking(true)
        .expect("a listener can be non-blocking");
    let addr = listener.local_addr().expect("a listener has an address");
    (listener, addr)
}

/// A reserved port and its bus port, free again when dropped.
#[derive(Debug)]
pub(crate) struct Port {
    number: u16,
    /// A name that only one process can have, and that is no file: it ends with this process.
    _reservation: UnixListener,
}

impl Port {
    pub(crate) fn reserve() -> Self {
        static NEXT: AtomicU16 = AtomicU16::new(0);
        let start = u16::try_from(std::process::id() * 37 % u32::from(COUNT))
            .expect("a remainder of COUNT fits");
        for _ in 0..COUNT {
            let offset = NEXT.fetch_add(1, Ordering::Relaxed).wrapping_add(start) % COUNT;
            if let Some(port) = Self::try_reserve(FIRST + offset) {
                return port;
            }
        }
        panic!("no free port between {FIRST} and {}", FIRST + COUNT);
    }

    pub(crate) fn number(&self) -> u16 {
        self.number
    }

    pub(crate) fn bus(&self) -> u16 {
        self.number + BUS_OFFSET
    }

    fn try_reserve(number: u16) -> Option<Self> {
        let name = UnixAddr::from_abstract_name(format!("dlock-test-port-{number}"));
        let reservation = UnixListener::bind_addr(&name.expect("a short name")).ok()?;
        let free = |port| TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok();
        (free(number) && free(number + BUS_OFFSET)).then_some(Self {
            number,
            _reservation: reservation,
        })
    }
}
