//! Topologies and scripts in which nothing is ever found.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use dlock::ErrorKind;
use dlock_tests::{
    Direction, FaultProxy, Impostor, Lie, connect, scaled, shared_server, unique_prefix, wait_until,
};

use crate::rig::{RETRY, connect_in_time, hello, settings, slots};

#[tokio::test]
async fn a_node_all_of_whose_slots_are_anothers_does_not_keep_a_client_from_connecting() {
    let server = shared_server().await;
    let real = server.addr().port();
    // The one that was asked names itself first, and then another for the same slots.
    let cluster = |other: u16| {
        Impostor::start(server.addr(), move |asked| {
            if asked.is(&["HELLO"]) {
                return Some(hello("cluster"));
            }
            let ranges = [
                (0, 16383, "127.0.0.1", asked.port),
                (0, 16383, "127.0.0.1", other),
            ];
            asked.is(&["CLUSTER", "SLOTS"]).then(|| slots(&ranges))
        })
    };
    let shadowed = cluster(real);
    let client = connect_in_time(settings(&shadowed.url())).expect("the other serves all");
    drop(client);

    // Also if the other does not answer.
    let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let nobody = free.local_addr().expect("an address").port();
    drop(free);
    let shadowed = cluster(nobody);
    let error = connect_in_time(settings(&shadowed.url())).expect_err("nobody serves any");
    assert!(error.is_unavailable(), "{error:?}");
}

#[tokio::test]
async fn a_script_that_is_never_known_is_not_sent_all_the_time() {
    let server = shared_server().await;
    let impostor = Impostor::start(server.addr(), |asked| {
        asked
            .is_script()
            .then(|| Lie::error("NOSCRIPT No matching script. Please use EVAL."))
    });
    let error = connect_in_time(settings(&impostor.url())).expect_err("no script ever runs");
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error:?}");
    assert!(error.to_string().contains("NOSCRIPT"), "{error}");
    let sent = impostor.count("EVAL") + impostor.count("EVALSHA");
    // Some at once, and then one in 100 ms at least.
    let most = 12 + scaled(RETRY).as_millis() / 100;
    assert!(sent > 1, "it was tried");
    assert!(sent as u128 <= most, "{sent} requests in {RETRY:?}");
}

#[tokio::test]
async fn a_wait_that_ends_while_a_script_is_sent_again_is_a_timeout() {
    let server = shared_server().await;
    let forgetful = Arc::new(AtomicBool::new(false));
    let forgets = Arc::clone(&forgetful);
    let impostor = Impostor::start(server.addr(), move |asked| {
        let scripts = forgets.load(Ordering::SeqCst) && asked.is_script();
        scripts.then(|| {
            if asked.is(&["EVALSHA"]) {
                Lie::error("NOSCRIPT No matching script. Please use EVAL.")
            } else {
                Lie::Silence
            }
        })
    });
    let client = connect(&impostor.url(), &unique_prefix()).await;
    let lock = client.rw_lock("one").expect("a valid name");
    drop(lock.write().await.expect("it is free"));
    let before = impostor.count("EVALSHA");
    forgetful.store(true, Ordering::SeqCst);
    let patience = scaled(Duration::from_millis(200));
    let error = lock.write_timeout(patience).await;
    let error = error.expect_err("the text is not answered");
    assert!(error.is_timeout(), "{error:?}");
    assert!(impostor.count("EVALSHA") > before, "it was asked by digest");
}

#[tokio::test]
async fn a_wait_without_end_goes_on_if_a_script_was_unknown_and_its_text_is_not_answered_in_time() {
    let proxy = FaultProxy::start(shared_server().await.addr());
    let forgetful = Arc::new(AtomicBool::new(false));
    let forgets = Arc::clone(&forgetful);
    let impostor = Impostor::start(proxy.addr(), move |asked| {
        let forgotten = asked.is(&["EVALSHA"]) && forgets.swap(false, Ordering::SeqCst);
        forgotten.then(|| Lie::error("NOSCRIPT No matching script. Please use EVAL."))
    });
    let client = settings(&impostor.url()).build().await.expect("honest yet");
    let lock = client.rw_lock("one").expect("a valid name");
    let acquire = async || lock.write().await?.release().await;
    acquire().await.expect("it is free");
    forgetful.store(true, Ordering::SeqCst);
    proxy.blackhole(Direction::ToServer);
    let since = Instant::now();
    let answers_again = async {
        wait_until(scaled(RETRY * 3), "a request is given up", || async {
            since.elapsed() > scaled(RETRY * 9 / 8)
        })
        .await;
        proxy.pass();
    };
    let (one, other, ()) = tokio::join!(acquire(), acquire(), answers_again);
    one.expect("the server answers");
    other.expect("the server answers other tasks");
}

#[tokio::test]
async fn what_was_wrong_is_said_although_the_last_answer_did_not_come() {
    let server = shared_server().await;
    let times = AtomicUsize::new(0);
    let impostor = Impostor::start(server.addr(), move |asked| {
        if asked.is(&["HELLO"]) {
            return Some(hello("cluster"));
        }
        if !asked.is(&["CLUSTER", "SLOTS"]) {
            return None;
        }
        let times = times.fetch_add(1, Ordering::Relaxed);
        Some(if times < 3 { slots(&[]) } else { Lie::Silence })
    });
    let error = connect_in_time(settings(&impostor.url())).expect_err("no slots");
    assert!(error.is_unavailable(), "{error:?}");
    assert!(error.to_string().contains("slots"), "{error}");
    assert!(!error.to_string().contains("overloaded"), "{error}");
}
