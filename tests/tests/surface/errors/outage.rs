//! A cluster that does not serve a slot: who waits is told that, and not that others hold the lock.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};
use std::time::Duration;

use dlock::{Client, Error, ErrorKind, TimeoutStep};
use dlock_tests::{
    Impostor, Lie, builder, connect, scaled, shared_server, unique_prefix, wait_waiters,
};
use tokio::task::JoinSet;

use crate::errors::expect::{RETRY, assert_says, error_of};

const SHORT: Duration = Duration::from_millis(200);

/// Waits of several tasks for locks that `client` asks for in vain: one of them asks the server, and the others wait for
/// that one.
pub(crate) async fn no_wait_says_that_others_hold(client: &Client, names: &[&str]) {
    for name in names {
        let mut errors = JoinSet::new();
        for waited in [SHORT, 2 * SHORT, 3 * SHORT] {
            let lock = client.rw_lock(name).expect("a good name");
            errors.spawn(async move { error_of(lock.write_timeout(waited)).await });
        }
        for error in errors.join_all().await {
            let text = error.to_string();
            assert!(!error.is_busy(), "nobody holds `{name}`: {error:?}");
            assert!(text.contains(&format!("`{name}`")), "{error:?}");
            if text.contains("CLUSTERDOWN") {
                assert_says(&error, ErrorKind::Unavailable, &["CLUSTER INFO"]);
            }
        }
    }
}

#[tokio::test]
async fn a_task_that_locks_twice_is_told_that_it_waits_for_itself() {
    let client = connect("memory://", "dlock").await;
    for mode in ["read", "write"] {
        let lock = client.rw_lock(mode).expect("a good name");
        let _held = lock.write().await.expect("free");
        let error = match mode {
            "read" => error_of(lock.read_timeout(SHORT)).await,
            _ => error_of(lock.write_timeout(SHORT)).await,
        };
        let words = [
            "tasks of this process hold it",
            "waits for itself",
            "`owner`",
        ];
        assert_says(&error, ErrorKind::Timeout(TimeoutStep::Wait), &words);
    }
    let mutex = client.mutex("one").expect("a good name");
    let _held = mutex.lock().await.expect("free");
    let error = error_of(mutex.lock_timeout(SHORT)).await;
    assert_says(
        &error,
        ErrorKind::Timeout(TimeoutStep::Wait),
        &["waits for itself"],
    );
}

#[tokio::test]
async fn a_cluster_that_goes_down_while_callers_wait() {
    let down = Arc::new(AtomicBool::new(false));
    let is_down = Arc::clone(&down);
    let server = Impostor::start(shared_server().await.addr(), move |asked| {
        let refuses = asked.is_script() && is_down.load(Ordering::SeqCst);
        refuses.then(|| Lie::error("CLUSTERDOWN The cluster is down"))
    });
    let prefix = unique_prefix();
    let retry = scaled(RETRY / 3);
    let client = builder(&server.url(), &prefix)
        .response_timeout(retry)
        .retry_for(retry);
    let client = client.build().await.expect("the server is up");
    let other = connect(&shared_server().await.url(), &prefix).await;
    let other = other.rw_lock("one").expect("a good name");
    let held = other.write().await.expect("free");
    let lock = client.rw_lock("one").expect("a good name");

    // As long as servers answer, others hold it.
    let error = error_of(lock.write_timeout(SHORT)).await;
    let words = ["`one`", "held by others", "200ms"];
    assert_says(&error, ErrorKind::Timeout(TimeoutStep::Wait), &words);

    // One of them asks the server; the others wait for that one, and for as long, or less.
    let mut waiting = JoinSet::new();
    let patience = scaled(Duration::from_secs(3));
    for waited in [2 * patience, patience, patience] {
        let lock = lock.clone();
        waiting.spawn(async move { lock.write_timeout(waited).await.expect_err("held") });
        wait_waiters(&other, 1).await;
    }
    down.store(true, Ordering::SeqCst);
    for error in waiting.join_all().await {
        let words = ["`one`", "CLUSTERDOWN", "CLUSTER INFO"];
        assert_says(&error, ErrorKind::Unavailable, &words);
    }
    // The next one knows nothing of a holder.
    no_wait_says_that_others_hold(&client, &["one"]).await;

    // It is up again, and others hold it.
    down.store(false, Ordering::SeqCst);
    let error = lock.write_timeout(scaled(Duration::from_secs(1))).await;
    assert!(error.as_ref().is_err_and(Error::is_busy), "{error:?}");
    held.release().await.expect("held to the end");
}

#[tokio::test]
async fn a_task_behind_others_of_its_process_says_so() {
    let client = connect("memory://", &unique_prefix()).await;
    let lock = client.rw_lock("one").expect("a good name");
    let held = lock.write().await.expect("free");
    let error = error_of(lock.write_timeout(SHORT)).await;
    let words = ["`one`", "200ms", "of this process"];
    assert_says(&error, ErrorKind::Timeout(TimeoutStep::Wait), &words);
    held.release().await.expect("held to the end");
}
