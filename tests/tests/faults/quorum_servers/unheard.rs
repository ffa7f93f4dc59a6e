//! A hold is given back before all servers have answered to its acquire.

use std::time::Duration;

use dlock::__internals::Script;
use dlock::Client;
use dlock_tests::{Pattern, request_of, wait_until};
use tokio::time::sleep;

use crate::quorum_servers::{Proxied, Servers};

/// How many scripts a server has run.
async fn scripts(servers: &Servers, server: usize) -> u64 {
    servers.servers[server].command_stats().await.scripts()
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

/// With a client that keeps what it gets for long.
async fn start() -> (Proxied, Client) {
    let proxied = Proxied::start().await;
    let builder = proxied.builder().lease(Duration::from_secs(120));
    let client = builder.build().await.expect("they are there");
    (proxied, client)
}

/// What a server sees after the release would keep others out there for its lease.
#[tokio::test(flavor = "multi_thread")]
async fn an_acquire_that_arrives_behind_the_release_is_undone() {
    for lost in [1, usize::MAX] {
        let (proxied, client) = start().await;
        let lock = client.rw_lock("a").expect("a good name");
        proxied.proxies[0].keep_request(request_of(Script::Acquire), lost);
        let guard = lock.write().await.expect("two grant it");
        guard.release().await.expect("held");
        proxied.wait_kept(1).await;
        proxied.proxies[0].pass();
        assert!(!proxied.proxies[0].deliver_kept().await.is_empty());
        proxied.servers.wait_nothing_left(0..3, "a").await;
    }
}

/// Both wait for a connection, after a time in which nothing was sent that the server might still have to expect.
#[tokio::test(flavor = "multi_thread")]
async fn an_acquire_that_is_written_behind_the_release_is_undone() {
    let (proxied, client) = start().await;
    let lock = client.rw_lock("a").expect("a good name");
    for _ in 0..3 {
        let guard = lock.write().await.expect("free");
        guard.release().await.expect("held");
        proxied.servers.wait_nothing_left(0..3, "a").await;
        // Longer than a request is valid for.
        sleep(Duration::from_millis(2_500)).await;
        proxied.proxies[0].refuse();
        let guard = lock.write().await.expect("two grant it");
        guard.release().await.expect("held");
        proxied.proxies[0].pass();
        let again = lock.write().await.expect("free");
        again.release().await.expect("held");
        proxied.servers.wait_nothing_left(0..3, "a").await;
    }
}

/// A plain `SET` does not say until when it is valid.
#[tokio::test(flavor = "multi_thread")]
async fn a_mutex_is_free_again_after_late_copies_of_what_was_given_up() {
    let (proxied, client) = start().await;
    let name = format!("late-{}", proxied.servers.prefix);
    let mutex = client.mutex(&name).expect("a good name");
    // An acquire goes by the script until its answer has told the client that no client waits. The third server's answer
    // may come after the release, so the next acquire is a plain command at two servers or at three.
    let guard = mutex.lock().await.expect("free");
    guard.release().await.expect("held");
    for proxy in &proxied.proxies {
        proxy.keep_request(Pattern::from("NX"), usize::MAX);
    }
    wait_until(
        Duration::from_secs(10),
        "a plain command to each server is kept",
        || async {
            let lost = mutex.lock_timeout(Duration::from_secs(1)).await;
            lost.expect_err("at least two servers do not answer");
            proxied.have_kept(3)
        },
    )
    .await;
    for proxy in &proxied.proxies {
        proxy.pass();
        let answers = proxy.deliver_kept().await;
        assert!(answers.concat().contains("OK"), "{answers:?}");
    }
    let other = proxied.servers.client().await;
    let other = other.mutex(&name).expect("a good name");
    let guard = other.lock_timeout(Duration::from_secs(30)).await;
    guard
        .expect("it was given back")
        .release()
        .await
        .expect("held");
}
