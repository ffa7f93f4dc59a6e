//! Mutexes with a token and without, and locks of the other kind, by one name.

use std::time::Duration;

use dlock::LockKind;
use dlock_tests::{SOON, connect, its_turn, scaled, shared_server, unique_prefix, wait_until};

async fn urls() -> [String; 2] {
    let memory = format!("memory://{}", unique_prefix());
    [memory, shared_server().await.url()]
}

#[tokio::test]
async fn a_mutex_and_a_read_write_lock_of_one_name_have_nothing_in_common() {
    for url in urls().await {
        let (client, name) = (connect(&url, "dlock").await, unique_prefix());
        let mutex = client.mutex(&name).expect("a valid name");
        let lock = client.rw_lock(&name).expect("a valid name");
        let held = mutex.lock().await.expect("free");
        let written = lock.write().await.expect("free");
        assert_eq!(held.key().kind(), LockKind::Mutex);
        assert_eq!(written.key().kind(), LockKind::Rw);
        assert_ne!(held.key(), written.key());
    }
}

#[tokio::test]
async fn a_mutex_is_the_same_with_a_token_and_without() {
    for url in urls().await {
        let (client, name) = (connect(&url, "dlock").await, unique_prefix());
        let other = connect(&url, "dlock").await;
        let plain = client.mutex(&name).expect("a valid name");
        let fenced = plain.clone().fenced().expect("one slot");
        let elsewhere = other.mutex(&name).expect("a valid name");
        for _ in 0..2 {
            let guard = plain.lock().await.expect("free");
            assert!(fenced.try_lock().await.expect("answered").is_none());
            let waiting = fenced.clone();
            let waiting = tokio::spawn(async move { waiting.lock().await });
            guard.release().await.expect("held to the end");
            let guard = its_turn(waiting).await;
            assert!(elsewhere.try_lock().await.expect("answered").is_none());
            guard.release().await.expect("held to the end");
        }
    }
}

/// As keys they are two, which other programs take one by one; a read/write lock's key has the braces in both cases.
#[tokio::test]
async fn a_name_with_braces_around_it_is_another_mutex() {
    for url in urls().await {
        let (one, two) = (connect(&url, "dlock").await, connect(&url, "dlock").await);
        let (bare, braced) = (unique_prefix(), unique_prefix());
        let names = [
            bare.clone(),
            format!("{{{bare}}}"),
            format!("{{{braced}{{}}"),
        ];
        let held: Vec<_> = names
            .iter()
            .map(|name| one.mutex(name).expect("a valid name"))
            .collect();
        let mut guards = Vec::new();
        for mutex in &held {
            let guard = tokio::time::timeout(scaled(SOON), mutex.lock()).await;
            guards.push(guard.expect("it is free").expect("free"));
        }
        // Each is waited for, elsewhere and in the same process.
        let mut waiting = Vec::new();
        for client in [&one, &two] {
            for name in &names {
                let mutex = client.mutex(name).expect("a valid name");
                let waits = async move {
                    let guard = mutex.lock().await.expect("free");
                    let name = guard.key().name().to_owned();
                    guard.release().await.expect("held to the end");
                    name
                };
                waiting.push((name, tokio::spawn(waits)));
            }
        }
        let seen = two.mutex(&names[0]).expect("a valid name");
        wait_until(SOON, "somebody waits", || async {
            !seen.inspect().await.expect("answered").waiters.is_empty()
        })
        .await;
        // The client that gets it by this release waits for this name.
        guards.remove(0).release().await.expect("held to the end");
        tokio::time::sleep(scaled(Duration::from_millis(100))).await;
        for (name, waiting) in &waiting {
            assert!(!waiting.is_finished() || **name == names[0], "{name}");
        }
        drop(guards);
        for (name, waiting) in waiting {
            let had = tokio::time::timeout(scaled(SOON), waiting).await;
            assert_eq!(had.expect("soon").expect("no panic"), *name);
        }
    }
}
