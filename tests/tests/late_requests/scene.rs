//! A lock whose requests can be kept back, and the same lock past the proxy.

use std::time::Duration;

use dlock::{
    __internals::{Script, script_source},
    Client, LockInfo, RwLock,
};
use dlock_tests::{FaultProxy, builder, connect, scaled, shared_server, unique_prefix, wait_until};

pub(crate) const SOON: Duration = Duration::from_secs(10);

pub(crate) struct Scene {
    proxy: FaultProxy,
    pub(crate) client: Client,
    pub(crate) lock: RwLock,
    pub(crate) witness: RwLock,
}

impl Scene {
    pub(crate) async fn new() -> Self {
        let server = shared_server().await;
        let proxy = FaultProxy::start(server.addr());
        let prefix = unique_prefix();
        // No hold ends by itself while a test runs.
        let lease = scaled(Duration::from_secs(30));
        let client = builder(&proxy.url(), &prefix).lease(lease).build().await;
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

    /// Keeps the next requests of this kind back. This is all that the tests here know of how requests look.
    pub(crate) fn keep(&self, script: Script, times: usize) {
        let script = redis::Script::new(script_source(script));
        self.proxy.keep_request(script.get_hash(), times);
    }

    pub(crate) async fn wait_kept(&self) {
        wait_until(SOON, "a request is kept back", || async {
            self.proxy.counters().kept > 0
        })
        .await;
    }

    /// Lets everything pass again, but for what has been kept back.
    pub(crate) fn pass(&self) {
        self.proxy.pass();
    }

    /// Delivers what was kept back; it has been executed on return.
    pub(crate) async fn deliver(&self) {
        let answers = self.proxy.deliver_kept().await;
        assert!(!answers.is_empty(), "something was kept back");
        println!("answered late: {answers:?}");
    }

    /// The lock as the server sees it.
    pub(crate) async fn state(&self) -> LockInfo {
        self.witness.inspect().await.expect("answered")
    }

    pub(crate) async fn assert_free(&self) {
        let state = self.state().await;
        assert!(
            state.holders.is_empty() && state.waiters.is_empty(),
            "{state:?}"
        );
        let guard = self.witness.try_write().await.expect("answered");
        let guard = guard.expect("nobody holds it");
        guard.release().await.expect("held to the end");
    }
}
