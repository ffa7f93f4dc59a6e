//! A model of a waiter and who wakes it.

use std::sync::Arc;

use shuttle::future::block_on;
use shuttle::sync::atomic::{AtomicBool, Ordering};
use shuttle::thread;

use super::{Origin, Wakeups};
use crate::protocol::{HoldId, Message, Nonce};
use crate::sync::modelled::{check, fails};
use crate::token::ServerToken;

/// A waiter listens, asks whether the lock is free, and sleeps if not. With the mistake it asks before it listens.
fn waits(asks_first: bool) {
    let wakeups = Arc::new(Wakeups::default());
    let free = Arc::new(AtomicBool::new(false));
    let id = HoldId::parse("client/1/1").expect("valid");
    let nonce = Nonce::of(&id);
    let (post, freed, to) = (Arc::clone(&wakeups), Arc::clone(&free), id.clone());
    let releases = thread::spawn(move || {
        freed.store(true, Ordering::SeqCst);
        let token = ServerToken::new(7);
        let message = Message::Granted {
            hold: to,
            nonce,
            token,
        };
        post.tell("lock", &message, Origin::of(1))
    });
    let asked = asks_first && free.load(Ordering::SeqCst);
    let listener = wakeups.listen(&id, "lock".into());
    if !asked && (asks_first || !free.load(Ordering::SeqCst)) {
        let heard = block_on(listener.woken());
        assert_eq!(heard, Some((ServerToken::new(7), Origin::of(1))));
    }
    drop(listener);
    releases.join().expect("ends");
    assert!(wakeups.waiting.lock().is_empty(), "still listens");
}

#[test]
fn who_listens_before_asking_misses_nothing() {
    check(|| waits(false));
    fails(|| waits(true));
}
