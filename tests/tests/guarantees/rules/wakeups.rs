//! The right waiters are told to look again, and no others.

use std::sync::Arc;
use std::time::Duration;

use dlock::__internals::{Listener, Message, Nonce, Origin, ServerToken, Wakeups};

use crate::rules::lock::{LEASE, Lock, PLACE, abandon, id, release};

#[test]
fn a_release_wakes_the_first_writer_alone() {
    let lock = Lock::new();
    for name in ["holder", "first", "second"] {
        lock.write(name);
    }
    assert_eq!(lock.woken(&release("holder")), ["first"]);
}

#[test]
fn a_release_passes_the_lock_on_for_as_long_as_the_place_was_kept() {
    let lock = Lock::new();
    let first = lock.write("holder").expect("free");
    lock.pass(PLACE / 2);
    lock.write("next");
    lock.pass(PLACE / 4);
    lock.release("holder");
    let info = lock.inspect();
    assert_eq!(info.holders.len(), 1);
    assert!(info.holders[0].id.starts_with("next"));
    let token = info.holders[0].token.map(ServerToken::behind);
    let token = token.map(ServerToken::as_u64);
    assert!(token > Some(first));
    assert_eq!(info.holders[0].remaining, PLACE * 3 / 4);
    assert!(info.waiters.is_empty());
    // A waiter that has missed the message and looks gets the same grant, for the whole lease.
    assert_eq!(lock.write("next"), token);
    assert_eq!(lock.inspect().holders[0].remaining, LEASE);
}

#[test]
fn a_lock_passed_on_to_the_dead_is_free_when_their_place_would_have_been_lost() {
    let lock = Lock::new();
    for name in ["holder", "dead"] {
        lock.write(name);
    }
    lock.release("holder");
    lock.pass(PLACE);
    assert!(lock.write("next").is_some());
}

#[test]
fn a_writers_release_wakes_all_readers_and_no_writer() {
    let lock = Lock::new();
    lock.write("holder");
    lock.read("a");
    lock.write("writer");
    lock.read("b");
    assert_eq!(lock.woken(&release("holder")), ["a", "b"]);
}

#[test]
fn one_of_two_readers_wakes_nobody() {
    let lock = Lock::new();
    lock.read("a");
    lock.read("b");
    lock.write("writer");
    assert!(lock.woken(&release("a")).is_empty());
    assert_eq!(lock.woken(&release("b")), ["writer"]);
}

#[test]
fn whoever_steps_aside_wakes_those_behind() {
    let lock = Lock::new();
    lock.read("holder");
    lock.write("writer");
    lock.read("reader");
    assert_eq!(lock.woken(&abandon("writer")), ["reader"]);

    let lock = Lock::new();
    lock.write("holder");
    lock.write("writer");
    assert_eq!(lock.woken(&lock.end_of_slice("holder")), ["writer"]);
}

#[test]
fn nobody_wakes_the_dead() {
    let lock = Lock::new();
    lock.write("holder");
    lock.write("dead");
    lock.pass(Duration::from_secs(1));
    assert!(lock.woken(&release("holder")).is_empty());
}

#[tokio::test]
async fn a_release_reaches_the_client_that_waits() {
    let lock = Lock::new();
    let clients = [Arc::new(Wakeups::default()), Arc::new(Wakeups::default())];
    let listen = |name, wakeups: &Arc<Wakeups>| {
        lock.store.attach(id(name).client(), wakeups);
        let about = lock.key().as_str().into();
        wakeups.listen(&id(name), about)
    };
    let (first, second) = (listen("first", &clients[0]), listen("second", &clients[1]));
    for name in ["holder", "first", "second"] {
        lock.write(name);
    }
    lock.apply_for_clients(&release("holder"));
    assert!(is_woken(&first).await);
    assert!(!is_woken(&second).await);

    // Clients come and go.
    drop((clients, first, second));
    lock.apply_for_clients(&release("first"));
}

#[tokio::test]
async fn a_grant_that_repeats_something_else_has_the_waiter_look_and_no_more() {
    let (wakeups, about) = (Arc::new(Wakeups::default()), Arc::<str>::from("about"));
    let hold = id("waiter");
    let listener = wakeups.listen(&hold, Arc::clone(&about));
    let granted = |nonce| Message::Granted {
        hold: hold.clone(),
        nonce,
        token: ServerToken::new(7),
    };
    // A delayed duplicate of the first request, sent before the subscription, may have been the last to reach the
    // record; and a master that was deposed knows only what was asked before.
    let (earlier, latest) = (listener.begin(), listener.begin());
    for (nonce, believed) in [(Nonce::NOBODY, false), (earlier, false), (latest, true)] {
        assert_eq!(
            wakeups.tell(&about, &granted(nonce), Origin::of(1)),
            believed
        );
        let woken = tokio::time::timeout(Duration::ZERO, listener.woken()).await;
        let woken = woken.expect("it looks, whatever it is told");
        assert_eq!(woken.is_some(), believed, "{nonce}");
    }
}

/// A subscription that a server took back may be made anew at a replica, which passes on what its master publishes; the
/// master sees no subscriber and takes the grant back.
#[tokio::test]
async fn a_grant_after_something_was_missed_is_none_until_the_server_is_asked_again() {
    let (wakeups, about) = (Arc::new(Wakeups::default()), Arc::<str>::from("about"));
    let hold = id("waiter");
    let listener = wakeups.listen(&hold, Arc::clone(&about));
    let tell = |nonce| {
        let granted = Message::Granted {
            hold: hold.clone(),
            nonce,
            token: ServerToken::new(7),
        };
        wakeups.tell(&about, &granted, Origin::of(1))
    };
    let mut nonce = listener.begin();
    for grants_before in [false, true] {
        if grants_before {
            tell(nonce);
        }
        wakeups.distrust(&hold);
        wakeups.look(&hold);
        tell(nonce);
        // A request that was sent twice changes nothing about it.
        listener.distrust();
        tell(nonce);
        let woken = tokio::time::timeout(Duration::ZERO, listener.woken()).await;
        assert_eq!(woken.expect("it looks"), None);
        nonce = listener.begin();
        tell(nonce);
        let woken = tokio::time::timeout(Duration::ZERO, listener.woken()).await;
        assert!(woken.expect("it looks").is_some());
    }
}

async fn is_woken(listener: &Listener) -> bool {
    tokio::time::timeout(Duration::ZERO, listener.woken())
        .await
        .is_ok()
}
