//! A lock whose requests can be cut or kept back.

use dlock::{__internals::Script, Client, ClientBuilder, LockInfo, RwLock};

use crate::{
    FaultProxy, Pattern, SOON, builder, connect, request_of, shared_server, unique_prefix,
    wait_until,
};

/// A lock through a proxy, and the same lock past it.
#[derive(Debug)]
pub struct ProxiedLock {
    /// What may happen on the way.
    pub proxy: FaultProxy,
    /// The client of `lock`.
    pub client: Client,
    /// Through the proxy.
    pub lock: RwLock,
    /// By a client that nothing happens to.
    pub witness: RwLock,
}

/// When a connection is cut.
#[derive(Clone, Copy, Debug)]
pub enum Cut {
    /// The request is executed, but not answered.
    Reply,
    /// The request is not even executed.
    Request,
}

impl ProxiedLock {
    /// A lock of its own on the shared server; the settings are of the client that goes through the proxy.
    pub async fn start(settings: impl FnOnce(ClientBuilder) -> ClientBuilder) -> Self {
        let server = shared_server().await;
        let proxy = FaultProxy::start(server.addr());
        let prefix = unique_prefix();
        let client = settings(builder(&proxy.url(), &prefix)).build().await;
        let client = client.expect("the server is up");
        let lock = client.rw_lock("one").expect("a valid name");
        let witness = connect(&server.url(), &prefix).await;
        let witness = witness.rw_lock("one").expect("a valid name");
        Self {
            proxy,
            client,
            lock,
            witness,
        }
    }

    /// The lock as the server sees it.
    pub async fn state(&self) -> LockInfo {
        self.witness.inspect().await.expect("answered")
    }

    /// Panics unless the lock has neither holders nor waiters, and can be taken.
    pub async fn assert_free(&self) {
        let state = self.state().await;
        assert!(
            state.holders.is_empty() && state.waiters.is_empty(),
            "{state:?}"
        );
        let guard = self.witness.try_write().await.expect("answered");
        let guard = guard.expect("nobody holds it");
        guard.release().await.expect("held to the end");
    }

    /// Cuts the connection once at the next request of this kind.
    pub fn cut(&self, how: Cut, script: Script) {
        self.cut_at(how, request_of(script));
    }

    /// Cuts the connection once at the next request that has this in it.
    pub fn cut_at(&self, how: Cut, request: impl Into<Pattern>) {
        match how {
            Cut::Reply => self.proxy.cut_after_request(request, 1),
            Cut::Request => self.proxy.cut_before_request(request, 1),
        }
    }

    /// Waits until the connection has been cut once.
    pub async fn wait_cut(&self) {
        wait_until(SOON, "the connection is cut", || async {
            self.proxy.counters().cuts == 1
        })
        .await;
    }

    /// Keeps the next requests of this kind back.
    pub fn keep(&self, script: Script, times: usize) {
        self.proxy.keep_request(request_of(script), times);
    }

    /// Waits until a request is kept back.
    pub async fn wait_kept(&self) {
        wait_until(SOON, "a request is kept back", || async {
            self.proxy.counters().kept > 0
        })
        .await;
    }

    /// Lets everything pass again, but for what has been kept back.
    pub fn pass(&self) {
        self.proxy.pass();
    }

    /// Delivers what was kept back; it has been executed on return.
    pub async fn deliver(&self) {
        let answers = self.proxy.deliver_kept().await;
        assert!(!answers.is_empty(), "something was kept back");
        println!("answered late: {answers:?}");
    }
}
