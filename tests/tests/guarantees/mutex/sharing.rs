//! Either side sees the other's hold as busy, and frees only its own.

use std::time::Duration;

use dlock::{ErrorKind, LossReason};
use dlock_tests::{
    FaultProxy, SOON, builder, connect, its_turn, scaled, shared_server, soon, unique_prefix,
    wait_until,
};

use crate::mutex::foreign::Foreign;

const LONG: Duration = Duration::from_secs(30);
/// Longer than any test waits.
const LEASE: Duration = Duration::from_secs(300);

#[tokio::test]
async fn the_key_is_the_name_and_its_value_the_holder() {
    let (server, name) = (shared_server().await, unique_prefix());
    let foreign = Foreign::new(&server.url(), &name).await;
    let client = connect(&server.url(), "dlock").await;
    let mutex = client.mutex(&name).expect("a valid name");
    assert_eq!(mutex.key().as_str(), name);
    let guard = mutex.lease(LONG).lock().await.expect("free");
    let value = foreign.value().await.expect("held");
    assert_eq!(value.split('/').count(), 3, "{value}");
    let left = foreign.left().await;
    assert!((29_000..=30_000).contains(&left), "{left}");
    guard.release().await.expect("held to the end");
    assert_eq!(foreign.value().await, None);
}

#[tokio::test]
async fn a_foreign_hold_is_busy_and_is_waited_for() {
    let (server, name) = (shared_server().await, unique_prefix());
    let foreign = Foreign::new(&server.url(), &name).await;
    let client = connect(&server.url(), "dlock").await;
    for mutex in [true, false] {
        assert!(foreign.acquire(LONG).await);
        let plain = client.mutex(&name).expect("a valid name");
        let fenced = plain.clone().fenced().expect("one slot");
        let held = if mutex {
            plain.try_lock().await.expect("answered").is_none()
        } else {
            fenced.try_lock().await.expect("answered").is_none()
        };
        assert!(held);
        let waiting = tokio::spawn(async move {
            if mutex {
                plain.lock().await.map(|guard| guard.key().clone())
            } else {
                fenced.lock().await.map(|guard| guard.key().clone())
            }
        });
        assert!(foreign.extend(LONG).await, "still its own");
        assert!(!waiting.is_finished());
        assert!(foreign.release().await, "still its own");
        let key = its_turn(waiting).await;
        assert_eq!(key.as_str(), name);
        wait_until(SOON, "the guard was dropped", || async {
            foreign.value().await.is_none()
        })
        .await;
    }
}

#[tokio::test]
async fn our_hold_is_busy_for_others_and_they_do_not_free_it() {
    let (server, name) = (shared_server().await, unique_prefix());
    let foreign = Foreign::new(&server.url(), &name).await;
    let client = connect(&server.url(), "dlock").await;
    let mutex = client.mutex(&name).expect("a valid name");
    let guard = mutex.lock().await.expect("free");
    assert!(!foreign.acquire(LONG).await);
    assert!(!foreign.release().await);
    assert!(!foreign.extend(LONG).await);
    guard.release().await.expect("held to the end");
    assert!(foreign.acquire(LONG).await);
    // What we do late has no effect on theirs.
    assert!(mutex.try_lock().await.expect("answered").is_none());
    assert_eq!(foreign.value().await.as_deref(), Some(foreign.token()));
}

#[tokio::test]
async fn a_hold_is_renewed_and_its_loss_is_noticed() {
    let (server, name) = (shared_server().await, unique_prefix());
    let foreign = Foreign::new(&server.url(), &name).await;
    let lease = scaled(Duration::from_millis(500));
    let client = builder(&server.url(), "dlock").lease(lease);
    let client = client.build().await.expect("the server is up");
    let mutex = client.mutex(&name).expect("a valid name");
    let guard = mutex.lock().await.expect("free");
    let outcome = tokio::time::timeout(2 * lease, guard.lost()).await;
    assert!(outcome.is_err(), "renewed");
    foreign.remove().await;
    assert!(foreign.acquire(LONG).await);
    soon(guard.lost()).await;
    let error = guard.release().await.expect_err("lost");
    assert_eq!(
        error.kind(),
        ErrorKind::Lost(LossReason::Removed),
        "{error}"
    );
    assert_eq!(foreign.value().await.as_deref(), Some(foreign.token()));
    assert!(foreign.left().await > 20_000, "nobody touched theirs");
}

#[tokio::test]
async fn a_key_that_is_no_string_is_an_error() {
    let (server, name) = (shared_server().await, unique_prefix());
    let client = redis::Client::open(server.url()).expect("a valid URL");
    let mut connection = client.get_connection().expect("the server answers");
    let () = redis::cmd("HSET")
        .arg(&name)
        .arg("a")
        .arg("b")
        .query(&mut connection)
        .expect("set");
    let client = connect(&server.url(), "dlock").await;
    let mutex = client.mutex(&name).expect("a valid name");
    let error = mutex.lock().await.expect_err("a hash");
    assert_eq!(error.kind(), ErrorKind::ForeignKey, "{error}");
}

#[tokio::test]
async fn tokens_grow_also_past_holders_who_have_none() {
    let (server, name) = (shared_server().await, unique_prefix());
    let foreign = Foreign::new(&server.url(), &name).await;
    let client = connect(&server.url(), "dlock").await;
    let fenced = client.mutex(&name).expect("a valid name").fenced();
    let fenced = fenced.expect("one slot");
    let mut last = None;
    for _ in 0..5 {
        let guard = fenced.lock().await.expect("free");
        assert!(Some(guard.fencing_token()) > last);
        last = Some(guard.fencing_token());
        guard.release().await.expect("held to the end");
        assert!(foreign.acquire(LONG).await);
        assert!(foreign.release().await);
    }
}

#[tokio::test]
async fn a_name_whose_braces_keep_a_line_away_works_without_one() {
    let (server, name) = (shared_server().await, format!("{}}}", unique_prefix()));
    let client = connect(&server.url(), "dlock").await;
    let mutex = client.mutex(&name).expect("a valid name");
    let guard = mutex.lock().await.expect("free");
    assert!(mutex.try_lock().await.expect("answered").is_none());
    let other = connect(&server.url(), "dlock").await;
    let other = other.mutex(&name).expect("a valid name");
    let waiting = tokio::spawn(async move { other.lock().await });
    guard.release().await.expect("held to the end");
    let guard = its_turn(waiting).await;
    guard.release().await.expect("held to the end");
    let error = mutex.fenced().expect_err("two slots");
    assert_eq!(error.kind(), ErrorKind::InvalidKey, "{error}");
}

/// `a` and `{a}` are two keys.
#[tokio::test]
async fn a_release_lets_nobody_into_a_mutex_of_another_name() {
    let (server, bare) = (shared_server().await, unique_prefix());
    let braced = format!("{{{bare}}}");
    let foreign = Foreign::new(&server.url(), &braced).await;
    assert!(foreign.acquire(LONG).await);
    let holder = connect(&server.url(), "dlock").await;
    for same_process in [true, false] {
        let waiter = if same_process {
            holder.clone()
        } else {
            connect(&server.url(), "dlock").await
        };
        let guard = holder.mutex(&bare).expect("a valid name").lock().await;
        let guard = guard.expect("free");
        let waiting = waiter.mutex(&braced).expect("a valid name");
        let waiting = tokio::spawn(async move { waiting.lock().await });
        if same_process {
            // So soon that the process passes on what it has.
            tokio::task::yield_now().await;
        } else {
            tokio::time::sleep(scaled(Duration::from_millis(100))).await;
        }
        guard.release().await.expect("held to the end");
        tokio::time::sleep(scaled(Duration::from_millis(100))).await;
        assert!(
            !waiting.is_finished(),
            "there are two holders: {same_process}"
        );
        assert_eq!(foreign.value().await.as_deref(), Some(foreign.token()));
        waiting.abort();
    }
}

/// Longer than numbers of microseconds go.
#[tokio::test]
async fn a_foreign_hold_may_last_as_long_as_servers_can_count() {
    let (server, name) = (shared_server().await, unique_prefix());
    let foreign = Foreign::new(&server.url(), &name).await;
    let client = connect(&server.url(), "dlock").await;
    let mutex = client.mutex(&name).expect("a valid name");
    assert!(
        foreign
            .acquire(Duration::from_secs(9_000_000_000_000_000))
            .await
    );
    assert!(mutex.try_lock().await.expect("answered").is_none());
    let info = mutex.inspect().await.expect("answered");
    assert_eq!(info.holders.len(), 1, "{info:?}");
    let waiting = tokio::spawn(async move { mutex.lock().await });
    tokio::time::sleep(scaled(Duration::from_millis(400))).await;
    assert!(!waiting.is_finished(), "{:?}", waiting.await);
    assert!(foreign.release().await);
    let guard = its_turn(waiting).await;
    guard.release().await.expect("held to the end");
}

/// It says not until when it is valid: no client holds by it, and it must not keep others out until its lease is over.
#[tokio::test]
async fn what_a_late_copy_of_a_plain_set_took_is_given_back() {
    let (server, name) = (shared_server().await, unique_prefix());
    let foreign = Foreign::new(&server.url(), &name).await;
    let proxy = FaultProxy::start(server.addr());
    let client = builder(&proxy.url(), "dlock").response_timeout(Duration::from_millis(300));
    let client = client.build().await.expect("the server is there");
    let mutex = client.mutex(&name).expect("a valid name");
    // Only what was found without a line is taken by a plain `SET`.
    let guard = mutex.lock().await.expect("free");
    guard.release().await.expect("held to the end");
    proxy.keep_request(name.as_str(), 1);
    let guard = mutex.lease(LEASE).lock().await.expect("asked once more");
    guard.release().await.expect("held to the end");
    proxy.pass();
    let answers = proxy.deliver_kept().await.concat();
    assert!(answers.starts_with("+OK"), "{answers}");
    assert!(foreign.left().await > 0, "taken for nobody");
    wait_until(LONG, "it is given back", || async {
        foreign.value().await.is_none()
    })
    .await;
}
