//! Functions under mutexes.

use std::time::Duration;

use dlock::testing::Scope;
use dlock::{
    CallMutexGuard, Client, Error, ErrorKind, LockKind, LockMode, blocking, distributed_lock,
};
use dlock_tests::{SOON, connect, scaled, soon, stores, unique_prefix};
use tokio::task::JoinSet;
use tokio::time::timeout;

#[distributed_lock(key = "{name}", lock = "mutex", client = client, guard = held)]
async fn plain(client: &Client, name: &str) -> Result<Result<(), Error>, Error> {
    assert!(dlock::current().is_none(), "there is no token");
    let current = dlock::current_mutex().expect("held");
    assert_eq!(current.key(), held.key());
    Ok(plain_now(client, name).await)
}

#[distributed_lock(key = "{name}", lock = "mutex", client = client, wait = "none", guard = held)]
async fn plain_now(client: &Client, name: &str) -> Result<(), Error> {
    held.check()
}

#[distributed_lock(key = "{name}", lock = "fenced_mutex", client = client, guard = held)]
async fn fenced(client: &Client, name: &str) -> Result<[Result<u64, Error>; 2], Error> {
    assert!(dlock::current_mutex().is_none(), "it has a token");
    let current = dlock::current().expect("held");
    assert_eq!(current.fencing_token(), held.fencing_token());
    let inner = fenced_now(client, name).await;
    Ok([Ok(held.fencing_token().as_u64()), inner])
}

#[distributed_lock(key = "{name}", lock = "fenced_mutex", client = client, wait = "none", guard = held)]
async fn fenced_now(client: &Client, name: &str) -> Result<u64, Error> {
    Ok(held.fencing_token().as_u64())
}

#[tokio::test]
async fn a_call_under_the_same_mutex_enters_it_again() {
    for url in stores().await {
        let (client, name) = (connect(&url, &unique_prefix()).await, unique_prefix());
        let inner = plain(&client, &name).await.expect("free");
        inner.expect("its own");
        let [outer, inner] = fenced(&client, &name).await.expect("free");
        assert_eq!(outer.expect("a token"), inner.expect("its own"));
    }
}

#[distributed_lock(key = "{name}", lock = "mutex", client = client)]
async fn plain_then_fenced(client: &Client, name: &str) -> Result<Error, Error> {
    let refused = fenced(client, name).await;
    Ok(refused.expect_err("it would wait for itself"))
}

#[distributed_lock(keys = ["other", name], lock = "fenced_mutex", client = client)]
async fn fenced_then_plain(client: &Client, name: &str) -> Result<[Error; 2], Error> {
    let refused = plain(client, name).await;
    let blocked = plain_blocking(client, name);
    Ok([refused.map(drop), blocked].map(|refused| refused.expect_err("it would wait for itself")))
}

#[distributed_lock(key = "{name}", lock = "mutex", client = client)]
fn plain_blocking(client: &Client, name: &str) -> Result<(), Error> {
    Ok(())
}

/// One string is one lock, with a token or without.
#[tokio::test]
async fn a_mutex_held_as_one_kind_is_not_waited_for_as_the_other() {
    for url in stores().await {
        let (client, name) = (connect(&url, &unique_prefix()).await, unique_prefix());
        let refused = soon(plain_then_fenced(&client, &name)).await.expect("free");
        assert!(refused.is_would_deadlock(), "{refused}");
        assert_eq!(
            refused.to_string(),
            format!(
                "mutex `{name}` is held by this very task as `lock = \"mutex\"`, which now wants it as \
                 `lock = \"fenced_mutex\"`; write the same in both functions"
            )
        );
        let ended = timeout(scaled(SOON), fenced_then_plain(&client, &name)).await;
        for refused in ended.expect("it does not wait for itself").expect("free") {
            assert!(refused.is_would_deadlock(), "{refused}");
        }
    }
}

#[distributed_lock(key = "{name}", client = client)]
async fn read_write(client: &Client, name: &str) -> Result<(), Error> {
    let token = dlock::current().expect("held").fencing_token();
    under_both(client, name).await?;
    assert_eq!(dlock::current().expect("held").fencing_token(), token);
    Ok(())
}

#[distributed_lock(key = "{name}", lock = "mutex", client = client, wait = "none")]
async fn under_both(client: &Client, name: &str) -> Result<(), Error> {
    let outer = dlock::current().expect("the one with a token");
    assert_eq!(outer.key().kind(), LockKind::Rw);
    let inner = dlock::current_mutex().expect("the one without");
    assert_eq!(inner.key().kind(), LockKind::Mutex);
    Ok(())
}

#[tokio::test]
async fn a_mutex_has_nothing_to_do_with_a_read_write_lock_of_its_name() {
    for url in stores().await {
        let (client, name) = (connect(&url, &unique_prefix()).await, unique_prefix());
        read_write(&client, &name).await.expect("both are free");
    }
}

#[distributed_lock(keys = names, lock = "mutex", client = client, guard = locks)]
async fn both(client: &Client, names: &[String]) -> Result<Vec<String>, Error> {
    tokio::task::yield_now().await;
    locks.iter().try_for_each(CallMutexGuard::check)?;
    Ok(locks
        .iter()
        .map(|lock| lock.key().name().to_owned())
        .collect())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn several_mutexes_are_taken_in_one_order() {
    for url in stores().await {
        let prefix = unique_prefix();
        let clients = [connect(&url, &prefix).await, connect(&url, &prefix).await];
        let mut running = JoinSet::new();
        for round in 0..40_usize {
            let client = clients[round % 2].clone();
            let mut names = ["a", "b"].map(|name| format!("{prefix}:{name}"));
            if round % 4 < 2 {
                names.reverse();
            }
            running.spawn(async move {
                let held = both(&client, &names).await.expect("in turn");
                assert_eq!(held, names, "in the order written");
            });
        }
        let all = async {
            while let Some(done) = running.join_next().await {
                done.expect("no panic");
            }
        };
        soon(all).await;
    }
}

#[tokio::test]
async fn somebody_who_holds_the_mutex_by_hand_keeps_a_call_out() {
    for url in stores().await {
        let prefix = unique_prefix();
        let (client, other) = (connect(&url, &prefix).await, connect(&url, &prefix).await);
        let mutex = other.mutex(&prefix).expect("valid");
        let guard = mutex.lock().await.expect("free");
        let refused = plain_now(&client, &prefix).await.expect_err("held");
        assert_eq!(refused.kind(), ErrorKind::Busy, "{refused}");
        guard.release().await.expect("held to the end");
        plain_now(&client, &prefix).await.expect("free");
    }
}

/// A thread that waits for `blocking`'s mutexes, of either kind.
#[tokio::test]
async fn threads_take_mutexes() {
    for url in stores().await {
        let name = unique_prefix();
        let thread = tokio::task::spawn_blocking(move || {
            let clients = [0, 1].map(|_| blocking::Client::connect(&url).expect("it is there"));
            let [mutex, other] = clients.map(|client| client.mutex(&name).expect("valid"));
            let guard = mutex.lock().expect("free");
            assert_eq!(guard.key().as_str(), name);
            assert!(other.try_lock().expect("answered").is_none());
            let fenced = other.clone().fenced().expect("one slot");
            let busy = fenced.lock_timeout(Duration::from_millis(20));
            assert!(busy.expect_err("held").is_timeout());
            assert_eq!(other.inspect().expect("answered").holder_count(), 1);
            guard.release().expect("held to the end");
            let mut last = None;
            for _ in 0..2 {
                let guard = fenced.try_lock().expect("answered").expect("free");
                assert!(Some(guard.fencing_token()) > last);
                last = Some(guard.fencing_token());
                guard.check().expect("held");
            }
            drop(mutex.try_lock().expect("answered").expect("dropped"));
            let short = mutex.lease(Duration::from_millis(300));
            let short = short.max_hold(Duration::from_millis(300));
            let guard = short.lock().expect("free");
            guard.lost().expect("this thread may wait");
            assert!(guard.is_lost() && guard.release().is_err_and(|error| error.is_lost()));
        });
        thread.await.expect("no panic");
    }
}

#[tokio::test]
#[should_panic = "no annotated function took mutex `b`; taken were: `a` (mutex), `a` (mutex)"]
async fn a_scope_tells_which_mutexes_were_taken() {
    let scope = Scope::memory().await.expect("memory");
    let run = scope.run(plain(scope.client(), "a"));
    run.await.expect("free").expect("its own");
    scope.assert_took_mutex("a");
    let taken = scope.taken();
    assert_eq!(
        (taken[0].kind, taken[0].mode),
        (LockKind::Mutex, LockMode::Write)
    );
    scope.assert_took_mutex("b");
}
