//! A connection to cut.

use std::{future::Future, time::Duration};

use dlock::{
    __internals::{Script, script_source},
    Client, RwLock,
};
use dlock_tests::{FaultProxy, builder, connect, shared_server, unique_prefix, wait_until};

pub(crate) const SOON: Duration = Duration::from_secs(10);
pub(crate) const LEASE: Duration = Duration::from_millis(1500);

/// A lock through a proxy, and the same lock past it.
pub(crate) struct Line {
    pub(crate) proxy: FaultProxy,
    pub(crate) client: Client,
    pub(crate) lock: RwLock,
    pub(crate) witness: RwLock,
}

impl Line {
    pub(crate) async fn new() -> Self {
        let server = shared_server().await;
        let proxy = FaultProxy::start(server.addr());
        let prefix = unique_prefix();
        let client = builder(&proxy.url(), &prefix).lease(LEASE).build().await;
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

    pub(crate) async fn holders(&self) -> usize {
        let info = self.witness.inspect().await.expect("answered");
        info.holders.len()
    }

    /// Cuts the connection once at the next request of this kind.
    pub(crate) fn cut(&self, how: Cut, script: Script) {
        self.cut_at(how, redis::Script::new(script_source(script)).get_hash());
    }

    pub(crate) fn cut_at(&self, how: Cut, request: &str) {
        match how {
            Cut::Reply => self.proxy.cut_after_request(request, 1),
            Cut::Request => self.proxy.cut_before_request(request, 1),
        }
    }

    pub(crate) async fn wait_cut(&self) {
        wait_until(SOON, "the connection is cut", || async {
            self.proxy.counters().cuts == 1
        })
        .await;
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Cut {
    /// Executed, but not answered.
    Reply,
    /// Not even executed.
    Request,
}

/// Runs a scene for each way of cutting.
pub(crate) async fn for_each_cut<F: Future<Output = ()>>(scene: impl Fn(Line, Cut) -> F) {
    for how in [Cut::Reply, Cut::Request] {
        scene(Line::new().await, how).await;
    }
}
