//! The clients that may hold a lock together, and those that may release it.

use dlock::__internals::{Op, Reply, Stray};
use dlock::LockMode::{Read, Write};

use crate::rules::lock::{Lock, PLACE, acquire_as, id, terms};

#[test]
fn a_writer_is_alone() {
    let lock = Lock::new();
    assert!(lock.try_write("writer").is_some());
    assert_eq!(lock.try_write("other"), None);
    assert_eq!(lock.try_read("reader"), None);
    assert_eq!(lock.inspect().mode(), Some(Write));
}

#[test]
fn readers_share_and_keep_writers_out_to_the_last() {
    let lock = Lock::new();
    for name in ["a", "b", "c"] {
        assert!(lock.try_read(name).is_some());
    }
    for name in ["a", "b", "c"] {
        assert_eq!(lock.try_write("writer"), None);
        assert_eq!(lock.release(name), Reply::Done);
    }
    assert!(lock.try_write("writer").is_some());
}

#[test]
fn only_the_holder_releases_or_renews() {
    let lock = Lock::new();
    lock.try_write("holder");
    let before = lock.inspect();
    assert_eq!(lock.release("stranger"), Reply::Gone);
    assert_eq!(lock.renew("stranger"), Reply::Gone);
    assert_eq!(
        lock.apply(&Op::Abandon {
            hold: id("stranger"),
            stray: Stray::None,
        }),
        Reply::Gone
    );
    assert_eq!(lock.inspect(), before);
}

#[test]
fn an_owner_reenters_and_downgrades() {
    let lock = Lock::new();
    for (name, mode) in [("outer", Write), ("inner", Write), ("reading", Read)] {
        let reply = lock.apply(&acquire_as("job", name, mode));
        assert!(matches!(reply, Reply::Granted(_)), "{name}: {reply:?}");
    }
    lock.release("outer");
    assert_eq!(lock.try_read("other"), None);
    lock.release("inner");
    assert!(lock.try_read("other").is_some());
    assert_eq!(lock.inspect().mode(), Some(Read));
}

#[test]
fn the_only_reader_upgrades() {
    let lock = Lock::new();
    lock.apply(&acquire_as("job", "reading", Read));
    let reply = lock.apply(&acquire_as("job", "writing", Write));
    assert!(matches!(reply, Reply::Granted(_)), "{reply:?}");
}

#[test]
fn an_upgrade_beside_other_readers_never_waits() {
    let lock = Lock::new();
    lock.apply(&acquire_as("job", "reading", Read));
    lock.try_read("other");
    let mut upgrade = acquire_as("job", "writing", Write);
    assert!(matches!(lock.apply(&upgrade), Reply::Busy(_)));
    if let Op::Acquire { place, .. } = &mut upgrade {
        *place = Some(terms("writing", PLACE));
    }
    assert_eq!(lock.apply(&upgrade), Reply::WouldDeadlock);
    assert!(lock.inspect().waiters.is_empty());
}
