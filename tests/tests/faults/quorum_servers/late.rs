//! Requests that arrive at some of the servers long after the client has gone on.

use std::time::Duration;

use dlock::__internals::Script;
use dlock::{RwLock, WriteGuard};
use dlock_tests::{Pattern, request_of, wait_until};

use crate::quorum_servers::Proxied;

/// A lock behind proxies, and another client that wants it.
struct Scene {
    proxied: Proxied,
    lock: RwLock,
    witness: RwLock,
}

impl Scene {
    async fn start() -> Self {
        let proxied = Proxied::start().await;
        let client = proxied.builder().build().await.expect("they are there");
        let witness = proxied.servers.client().await;
        Self {
            lock: client.rw_lock("a").expect("ok"),
            witness: witness.rw_lock("a").expect("ok"),
            proxied,
        }
    }

    /// Keeps the next request of this kind back at so many servers.
    fn keep(&self, pattern: &Pattern, servers: usize) {
        for proxy in &self.proxied.proxies[..servers] {
            proxy.keep_request(pattern, 1);
        }
    }

    /// The ids that each server has recorded.
    async fn holds(&self) -> Vec<Vec<String>> {
        let mut all = Vec::new();
        for server in 0..3 {
            let info = self.proxied.servers.recorded(server, "a").await;
            all.push(info.holders.into_iter().map(|hold| hold.id).collect());
        }
        all
    }

    /// What was kept arrives, in a state where all servers have the same hold, or none.
    async fn deliver_without_effect(&self, servers: usize) {
        for proxy in &self.proxied.proxies {
            proxy.pass();
        }
        wait_until(Duration::from_secs(20), "all servers agree", || async {
            let holds = self.holds().await;
            holds.iter().all(|hold| *hold == holds[0])
        })
        .await;
        let before = self.holds().await;
        for proxy in &self.proxied.proxies[..servers] {
            let answers = proxy.deliver_kept().await;
            assert!(!answers.is_empty());
            println!("answered late: {answers:?}");
        }
        assert_eq!(self.holds().await, before);
    }

    async fn end(&self, guard: WriteGuard) {
        let token = guard.fencing_token();
        guard.release().await.expect("held to the end");
        self.proxied.servers.wait_nothing_left(0..3, "a").await;
        let next = self.witness.write().await.expect("free");
        assert!(next.fencing_token() > token);
        next.release().await.expect("held");
        self.proxied.servers.wait_nothing_left(0..3, "a").await;
    }
}

/// Kept back at one server, at two, at all three.
async fn each(script: Script) {
    for servers in 1..=3 {
        let scene = Scene::start().await;
        scene.keep(&request_of(script), servers);
        let guard = scene.lock.write().await.expect("asked again");
        scene.proxied.wait_kept(servers).await;
        scene.deliver_without_effect(servers).await;
        scene.end(guard).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn acquires() {
    each(Script::Acquire).await;
}

/// At one server it may not even be sent: that may be the one with the largest token.
#[tokio::test(flavor = "multi_thread")]
async fn tokens() {
    for servers in 2..=3 {
        let scene = Scene::start().await;
        scene.keep(&request_of(Script::Raise), servers);
        let guard = scene.lock.write().await.expect("asked again");
        let token = guard.fencing_token();
        guard.release().await.expect("held");
        let next = scene.witness.write().await.expect("free");
        assert!(next.fencing_token() > token);
        for proxy in &scene.proxied.proxies {
            proxy.pass();
            if proxy.counters().kept > 0 {
                println!("answered late: {:?}", proxy.deliver_kept().await);
            }
        }
        let info = scene.witness.inspect().await.expect("answered");
        assert_eq!(info.holders.len(), 1);
        next.check().expect("still held");
        scene.end(next).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn releases() {
    for servers in 1..=3 {
        let scene = Scene::start().await;
        let guard = scene.lock.write().await.expect("free");
        let hdel = Pattern::from("HDEL");
        scene.keep(&hdel, servers);
        guard.release().await.expect("held");
        scene.proxied.wait_kept(servers).await;
        for proxy in &scene.proxied.proxies {
            proxy.pass();
        }
        scene.proxied.servers.wait_nothing_left(0..3, "a").await;
        let guard = scene.lock.write().await.expect("free");
        scene.deliver_without_effect(servers).await;
        scene.end(guard).await;
    }
}

/// Of an attempt that was given up.
#[tokio::test(flavor = "multi_thread")]
async fn undoings() {
    let scene = Scene::start().await;
    // No majority answers.
    for proxy in &scene.proxied.proxies[..2] {
        proxy.keep_request(request_of(Script::Acquire), usize::MAX);
    }
    scene.keep(&request_of(Script::Abandon), 3);
    let waited = scene.lock.write_timeout(Duration::from_secs(1)).await;
    waited.expect_err("no majority");
    scene.proxied.wait_kept(3).await;
    for proxy in &scene.proxied.proxies {
        proxy.pass();
    }
    scene.proxied.servers.wait_nothing_left(0..3, "a").await;
    let guard = scene.lock.write().await.expect("free");
    scene.deliver_without_effect(3).await;
    scene.end(guard).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn renewals() {
    for servers in 1..=3 {
        let scene = Scene::start().await;
        let lock = scene.lock.clone().lease(Duration::from_secs(3));
        let guard = lock.write().await.expect("free");
        scene.keep(&request_of(Script::Renew), servers);
        scene.proxied.wait_kept(servers).await;
        guard.release().await.expect("held to the end");
        scene.proxied.servers.wait_nothing_left(0..3, "a").await;
        let guard = scene.witness.write().await.expect("free");
        scene.deliver_without_effect(servers).await;
        scene.end(guard).await;
    }
}
