//! A TCP proxy that does on demand what networks do by chance.

mod cluster;
mod connection;
mod counters;
mod dialogue;
mod faults;
mod frame;
mod kept;
mod pattern;
mod rules;
mod travelling;
mod users;

use std::{
    net::{SocketAddr, TcpListener},
    ops::Deref,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use tokio::{
    runtime::{Builder, Runtime},
    task::{AbortHandle, JoinSet},
};

pub(crate) use self::frame::{frame_len, words};
pub use self::{
    cluster::ProxiedCluster,
    counters::Counters,
    faults::Faults,
    pattern::{Pattern, request_of},
};
use self::{counters::increment, rules::Rules, users::Users};
use crate::port::listen;

/// Which way a fault applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Requests.
    ToServer,
    /// Replies and pushes.
    ToClient,
    /// Requests, replies and pushes.
    Both,
}

/// A proxy in front of one server; forwards everything until told otherwise.
///
/// Its [`Faults`] are those of all clients that have not logged in as a user with faults of its own. It runs on threads
/// of its own, so a test may block or stop its clock. Dropping it closes everything.
#[derive(Debug)]
pub struct FaultProxy {
    addr: SocketAddr,
    server: Arc<Mutex<SocketAddr>>,
    faults: Faults,
    users: Arc<Users>,
    acceptor: AbortHandle,
}

impl Deref for FaultProxy {
    type Target = Faults;

    fn deref(&self) -> &Faults {
        &self.faults
    }
}

impl FaultProxy {
    /// Starts a proxy on a free loopback port in front of `server`.
    #[must_use]
    pub fn start(server: SocketAddr) -> Self {
        let (listener, addr) = listen();
        let server = Arc::new(Mutex::new(server));
        let rules = Arc::new(Rules::new());
        let users = Arc::new(Users::default());
        let shared = (Arc::clone(&rules), Arc::clone(&users));
        let accept = accept(listener, Arc::clone(&server), shared);
        let acceptor = runtime().spawn(accept).abort_handle();
        Self {
            addr,
            server,
            faults: Faults { rules },
            users,
            acceptor,
        }
    }

    /// Where clients connect.
    #[must_use]
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// `redis://127.0.0.1:PORT`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("redis://{}", self.addr)
    }

    /// Leads new connections to another server, like the name of a service that has moved. Open connections stay.
    pub fn lead_to(&self, server: SocketAddr) {
        *self.server.lock().unwrap_or_else(PoisonError::into_inner) = server;
    }

    /// The faults of those who log in as this ACL user, from then on: their connections know no others.
    #[must_use]
    pub fn of_user(&self, name: &str) -> Faults {
        let rules = self.users.rules(name.as_bytes());
        Faults { rules }
    }
}

impl Drop for FaultProxy {
    fn drop(&mut self) {
        self.acceptor.abort();
    }
}

async fn accept(
    listener: TcpListener,
    server: Arc<Mutex<SocketAddr>>,
    (rules, users): (Arc<Rules>, Arc<Users>),
) {
    let listener = tokio::net::TcpListener::from_std(listener).expect("the runtime has I/O");
    // Its connections end with this task.
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let (client, _) = accepted.expect("the process has file descriptors left");
                increment(&rules.count.accepted);
                // Before the rule is read: a storm right after it closes this connection too.
                let storm = rules.storm.subscribe();
                if rules.weather.borrow().refuse {
                    continue;
                }
                let (rules, users) = (Arc::clone(&rules), Arc::clone(&users));
                let open = rules.count.open();
                let server = *server.lock().unwrap_or_else(PoisonError::into_inner);
                connections.spawn(async move {
                    connection::serve(client, server, rules, &users, storm).await;
                    drop(open);
                });
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

/// The threads of all proxies.
pub(crate) fn runtime() -> &'static Runtime {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    RUNTIME.get_or_init(|| {
        Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("fault-proxy")
            .enable_all()
            .build()
            .expect("a runtime starts")
    })
}
