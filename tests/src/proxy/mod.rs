//! A TCP proxy that does on demand what networks do by chance.

mod cluster;
mod connection;
mod counters;
mod dialogue;
mod frame;
mod kept;
mod pattern;
mod rules;

use std::{
    net::{Ipv4Addr, SocketAddr, TcpListener},
    sync::{Arc, OnceLock},
    time::Duration,
};

use tokio::{
    runtime::{Builder, Runtime},
    task::{AbortHandle, JoinSet},
};

pub(crate) use self::frame::{frame_len, words};
pub use self::{
    cluster::ProxiedCluster,
    counters::Counters,
    pattern::{Pattern, request_of},
};
use self::{
    counters::increment,
    rules::{Cut, Rules},
};

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
/// It runs on threads of its own, so a test may block or stop its clock. Dropping it closes everything.
#[derive(Debug)]
pub struct FaultProxy {
    addr: SocketAddr,
    rules: Arc<Rules>,
    acceptor: AbortHandle,
}

impl FaultProxy {
    /// Starts a proxy on a free loopback port in front of `server`.
    #[must_use]
    pub fn start(server: SocketAddr) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("loopback has a port");
        listener
            .set_nonblocking(true)
            .expect("a listener can be non-blocking");
        let addr = listener.local_addr().expect("a listener has an address");
        let rules = Arc::new(Rules::new());
        let accept = accept(listener, server, Arc::clone(&rules));
        let acceptor = runtime().spawn(accept).abort_handle();
        Self {
            addr,
            rules,
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

    /// Ends all faults; what was held back is delivered now.
    pub fn pass(&self) {
        self.rules.clear_cuts();
        self.rules.weather.send_replace(rules::Weather::default());
    }

    /// Delivers everything in this direction later by `delay`.
    pub fn delay(&self, direction: Direction, delay: Duration) {
        self.rules
            .weather
            .send_modify(|weather| weather.change(direction, |leg| leg.delay = delay));
    }

    /// Holds everything back in this direction, as a network partition does; new connections are accepted.
    pub fn blackhole(&self, direction: Direction) {
        self.rules
            .weather
            .send_modify(|weather| weather.change(direction, |leg| leg.held = true));
    }

    /// Closes all clients' connections and every new one, as if the server were down.
    pub fn refuse(&self) {
        self.rules
            .weather
            .send_modify(|weather| weather.refuse = true);
        self.cut_all();
    }

    /// Closes all clients' connections now; new ones are welcome.
    pub fn cut_all(&self) {
        self.rules.storm.send_modify(|storms| *storms += 1);
    }

    /// The next `times` requests that contain `pattern` are executed, but their replies are lost: the
    /// connection closes when the reply arrives here.
    pub fn cut_after_request(&self, pattern: impl Into<Pattern>, times: usize) {
        self.rules.add_cut(Cut::After, pattern.into(), times);
    }

    /// The next `times` requests that contain `pattern` do not reach the server: the connection closes instead.
    pub fn cut_before_request(&self, pattern: impl Into<Pattern>, times: usize) {
        self.rules.add_cut(Cut::Before, pattern.into(), times);
    }

    /// The next `times` requests that contain `pattern` are kept back for [`deliver_kept`](Self::deliver_kept). Their
    /// connections close for the client, which has to send them again elsewhere, and stay open to the server.
    pub fn keep_request(&self, pattern: impl Into<Pattern>, times: usize) {
        self.rules.add_cut(Cut::Keep, pattern.into(), times);
    }

    /// Delivers what was kept back, in that order, each over the connection it was sent on. Returns the server's
    /// answers, when all are there.
    pub async fn deliver_kept(&self) -> Vec<String> {
        let mut answers = Vec::new();
        for kept in self.rules.take_kept() {
            answers.push(kept.deliver().await);
        }
        answers
    }

    /// The next `times` requests that contain `pattern` do not reach the server, and nobody learns of it: their
    /// connections stay open, and nothing passes any more, either way.
    pub fn mute_request(&self, pattern: impl Into<Pattern>, times: usize) {
        self.rules.add_cut(Cut::Mute, pattern.into(), times);
    }

    /// Swallows pub/sub messages from now on, or no longer; subscriptions are still confirmed.
    pub fn drop_pushes(&self, drop: bool) {
        self.rules
            .weather
            .send_modify(|weather| weather.drop_pushes = drop);
    }

    /// What went through so far.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.rules.count.read()
    }
}

impl Drop for FaultProxy {
    fn drop(&mut self) {
        self.acceptor.abort();
    }
}

async fn accept(listener: TcpListener, server: SocketAddr, rules: Arc<Rules>) {
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
                let rules = Arc::clone(&rules);
                let open = rules.count.open();
                connections.spawn(async move {
                    connection::serve(client, server, &rules, storm).await;
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
