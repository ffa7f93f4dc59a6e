//! Servers that send a client, with its password, to others.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use dlock_tests::{Impostor, Lie, RedisServer, ServerOptions, scaled};

use crate::rig::{connect_in_time, hello, settings, slots};

const SECRET: &str = "s3cr3t-pw";

/// A stranger that listens for passwords, before a server that would take them.
fn stranger(server: &RedisServer) -> Impostor {
    Impostor::start(server.addr(), |_| None)
}

fn knows(stranger: &Impostor) -> bool {
    let heard = stranger.heard();
    heard.iter().flatten().any(|word| word.contains(SECRET))
}

async fn server() -> RedisServer {
    RedisServer::start_with(&ServerOptions::new().password(SECRET)).await
}

#[tokio::test]
async fn outside_of_a_cluster_nobody_is_followed() {
    let server = server().await;
    for redirect in ["MOVED", "ASK"] {
        let stranger = stranger(&server);
        let line = format!("{redirect} 1 {}", stranger.addr());
        let seduced = Arc::new(AtomicBool::new(false));
        let now = Arc::clone(&seduced);
        let impostor = Impostor::start(server.addr(), move |asked| {
            (asked.is_script() && now.load(Ordering::Relaxed)).then(|| Lie::error(&line))
        });
        let url = server.url_of_port(impostor.addr().port());
        let client = settings(&url).build().await.expect("all is well so far");
        seduced.store(true, Ordering::Relaxed);
        let lock = client.rw_lock("one").expect("a good name");
        let error = lock.try_write().await.expect_err("nobody to ask");
        assert!(error.is_unavailable(), "{error:?}");
        assert!(error.to_string().contains(redirect), "{error}");
        assert!(!knows(&stranger), "{redirect}: {:?}", stranger.heard());
        seduced.store(false, Ordering::Relaxed);
        drop(lock.write().await.expect("as before"));
    }
}

#[tokio::test]
async fn a_wait_that_ends_on_the_way_from_one_server_to_the_next_is_a_timeout() {
    let server = server().await;
    let silent = Impostor::start(server.addr(), |asked| {
        asked.is_script().then_some(Lie::Silence)
    });
    let line = format!("MOVED 1 {}", silent.addr());
    let moved = Arc::new(AtomicBool::new(false));
    let now = Arc::clone(&moved);
    let first = Impostor::start(server.addr(), move |asked| {
        if asked.words == ["HELLO"] {
            return Some(hello("cluster"));
        }
        if asked.is(&["CLUSTER", "SLOTS"]) {
            return Some(slots(&[(0, 16383, "127.0.0.1", asked.port)]));
        }
        (asked.is_script() && now.load(Ordering::Relaxed)).then(|| Lie::error(&line))
    });
    let url = server.url_of_port(first.addr().port());
    let client = settings(&url).build().await.expect("all is well so far");
    moved.store(true, Ordering::Relaxed);
    let lock = client.rw_lock("one").expect("a good name");
    let error = lock.write_timeout(scaled(Duration::from_millis(200))).await;
    let error = error.expect_err("nobody answers");
    assert!(error.is_timeout(), "{error:?}");
    let said = error.to_string();
    assert!(said.contains(&silent.addr().to_string()), "{said}");
    assert!(!said.contains("MOVED"), "{said}");
}

#[tokio::test]
async fn a_server_that_says_it_is_a_cluster_by_now_is_not_believed() {
    let server = server().await;
    let stranger = stranger(&server);
    let port = stranger.addr().port();
    let seduced = Arc::new(AtomicBool::new(false));
    let now = Arc::clone(&seduced);
    let impostor = Impostor::start(server.addr(), move |asked| {
        if !now.load(Ordering::Relaxed) {
            return None;
        }
        if asked.words == ["HELLO"] {
            return Some(hello("cluster"));
        }
        if asked.is(&["CLUSTER", "SLOTS"]) {
            return Some(slots(&[(0, 16383, "127.0.0.1", port)]));
        }
        asked
            .is_script()
            .then(|| Lie::error("CLUSTERDOWN The cluster is down"))
    });
    let url = server.url_of_port(impostor.addr().port());
    let client = settings(&url).build().await.expect("all is well so far");
    seduced.store(true, Ordering::Relaxed);
    let lock = client.rw_lock("one").expect("a good name");
    let error = lock.try_write().await.expect_err("nobody to ask");
    assert!(error.is_unavailable(), "{error:?}");
    let surveyed = impostor.heard().iter().any(|words| *words == ["HELLO"]);
    assert!(surveyed, "the client has asked around");
    assert!(!knows(&stranger), "{:?}", stranger.heard());
}

#[tokio::test]
async fn in_a_cluster_only_trusted_hosts_are_told_the_password() {
    let server = server().await;
    // By a redirect, and by the map of slots.
    for moved in [true, false] {
        for (trusted, is_told) in [
            ("", true),
            ("?trusted_hosts=10.*,127.0.0.2", false),
            ("?trusted_hosts=10.*,LOCAL*", true),
        ] {
            let stranger = stranger(&server);
            let port = stranger.addr().port();
            let line = format!("MOVED 1 localhost:{port}");
            let impostor = Impostor::start(server.addr(), move |asked| {
                let (host, port) = if moved {
                    ("127.0.0.1", asked.port)
                } else {
                    ("localhost", port)
                };
                if asked.words == ["HELLO"] {
                    return Some(hello("cluster"));
                }
                if asked.is(&["CLUSTER", "SLOTS"]) {
                    return Some(slots(&[(0, 16383, host, port)]));
                }
                (moved && asked.is_script()).then(|| Lie::error(&line))
            });
            let url = format!("{}{trusted}", server.url_of_port(impostor.addr().port()));
            let outcome = connect_in_time(settings(&url));
            if is_told {
                outcome.expect("the stranger serves locks");
            } else {
                let error = outcome.expect_err("nobody to trust");
                assert!(error.is_unavailable(), "{error:?}");
                for word in ["localhost", "trusted_hosts"] {
                    assert!(error.to_string().contains(word), "{error}");
                }
            }
            assert_eq!(knows(&stranger), is_told, "{moved} {trusted}");
        }
    }
}
