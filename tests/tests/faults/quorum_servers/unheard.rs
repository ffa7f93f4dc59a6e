//! A hold is given back before all servers have answered to its acquire.

use std::time::Duration;

use dlock::__internals::Script;
use dlock::Client;
use dlock_tests::{FaultProxy, Pattern, request_of, wait_until};
use tokio::time::sleep;

use crate::Servers;

/// How many scripts a server has run.
async fn scripts(servers: &Servers, server: usize) -> u64 {
    let stats = servers.servers[server].info("commandstats").await;
    let stats = stats.expect("it answers");
    let calls = stats.lines().filter_map(|line| {
        let (command, numbers) = line.split_once(":calls=")?;
        command.starts_with("cmdstat_eval").then_some(numbers)
    });
    let calls = calls.filter_map(|numbers| numbers.split(',').next()?.parse::<u64>().ok());
    calls.sum()
}

/// Nothing has to be noted at a server that is just slow: it carries out what it is told in that order.
#[tokio::test(flavor = "multi_thread")]
async fn a_slow_server_has_nothing_left_of_a_hold_that_is_over() {
    let servers = Servers::start(3).await;
    let client = servers.client().await;
    let mutex = client.mutex("slow").expect("a good name");
    let guard = mutex.lock().await.expect("free");
    guard.release().await.expect("held");
    wait_until(Duration::from_secs(10), "it is over", || async {
        scripts(&servers, 0).await > 0
    })
    .await;
    let before = scripts(&servers, 0).await;

    servers.servers[0].pause();
    let guard = mutex.lock().await.expect("two grant it");
    guard.release().await.expect("held");
    servers.servers[0].resume();
    wait_until(Duration::from_secs(10), "it is over there, too", || async {
        scripts(&servers, 0).await > before
    })
    .await;
    let left: Vec<String> = servers.servers[0].query(&["KEYS", "*"]).await;
    assert_eq!(left, [] as [&str; 0]);
}

/// Three servers behind proxies, and a client that keeps what it gets for long.
struct Scene {
    servers: Servers,
    proxies: Vec<FaultProxy>,
    client: Client,
}

impl Scene {
    async fn start() -> Self {
        let servers = Servers::start(3).await;
        let proxies = servers.servers.iter();
        let proxies: Vec<_> = proxies
            .map(|server| FaultProxy::start(server.addr()))
            .collect();
        let urls = proxies.iter().map(FaultProxy::url);
        let client = Client::builder().quorum(urls).prefix(&servers.prefix);
        let client = client.lease(Duration::from_secs(120)).build().await;
        Self {
            client: client.expect("they are there"),
            servers,
            proxies,
        }
    }

    async fn wait_kept(&self, proxy: usize) {
        wait_until(Duration::from_secs(10), "it was sent", || async {
            self.proxies[proxy].counters().kept > 0
        })
        .await;
    }
}

/// What a server sees after the release would keep others out there for its lease.
#[tokio::test(flavor = "multi_thread")]
async fn an_acquire_that_arrives_behind_the_release_is_undone() {
    for lost in [1, usize::MAX] {
        let scene = Scene::start().await;
        let lock = scene.client.rw_lock("a").expect("a good name");
        scene.proxies[0].keep_request(request_of(Script::Acquire), lost);
        let guard = lock.write().await.expect("two grant it");
        guard.release().await.expect("held");
        scene.wait_kept(0).await;
        scene.proxies[0].pass();
        assert!(!scene.proxies[0].deliver_kept().await.is_empty());
        scene.servers.wait_nothing_left(0..3, "a").await;
    }
}

/// Both wait for a connection, after a time in which nothing was sent that the server might still have to expect.
#[tokio::test(flavor = "multi_thread")]
async fn an_acquire_that_is_written_behind_the_release_is_undone() {
    let scene = Scene::start().await;
    let lock = scene.client.rw_lock("a").expect("a good name");
    for _ in 0..3 {
        let guard = lock.write().await.expect("free");
        guard.release().await.expect("held");
        scene.servers.wait_nothing_left(0..3, "a").await;
        sleep(Duration::from_millis(2_500)).await;
        scene.proxies[0].refuse();
        let guard = lock.write().await.expect("two grant it");
        guard.release().await.expect("held");
        scene.proxies[0].pass();
        let again = lock.write().await.expect("free");
        again.release().await.expect("held");
        scene.servers.wait_nothing_left(0..3, "a").await;
    }
}

/// A plain `SET` does not say until when it is valid.
#[tokio::test(flavor = "multi_thread")]
async fn a_mutex_is_free_again_after_late_copies_of_what_was_given_up() {
    let scene = Scene::start().await;
    let name = format!("late-{}", scene.servers.prefix);
    let mutex = scene.client.mutex(&name).expect("a good name");
    for proxy in &scene.proxies {
        proxy.keep_request(Pattern::from("NX"), usize::MAX);
    }
    let lost = mutex.lock_timeout(Duration::from_secs(1)).await;
    lost.expect_err("nobody answers");
    for (number, proxy) in scene.proxies.iter().enumerate() {
        scene.wait_kept(number).await;
        proxy.pass();
    }
    for proxy in &scene.proxies {
        let answers = proxy.deliver_kept().await;
        assert!(answers.concat().contains("OK"), "{answers:?}");
    }
    let other = scene.servers.client().await;
    let other = other.mutex(&name).expect("a good name");
    let guard = other.lock_timeout(Duration::from_secs(30)).await;
    guard
        .expect("it was given back")
        .release()
        .await
        .expect("held");
}
