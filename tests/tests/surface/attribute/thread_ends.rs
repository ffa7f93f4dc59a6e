//! Destructors of thread-locals, which run when those of Tokio and of dlock are gone.

use std::cell::RefCell;
use std::sync::mpsc;
use std::thread;

use dlock::blocking::{Client, WriteGuard};
use dlock::{Error, distributed_lock};
use dlock_tests::{SOON, scaled};

/// Runs something when its thread ends.
struct AtTheEnd(Option<Box<dyn FnOnce()>>);

impl Drop for AtTheEnd {
    fn drop(&mut self) {
        if let Some(run) = self.0.take() {
            run();
        }
    }
}

thread_local! {
    static LAST: RefCell<AtTheEnd> = const { RefCell::new(AtTheEnd(None)) };
    static GUARD: RefCell<Option<WriteGuard>> = const { RefCell::new(None) };
}

/// Has its destructor registered before what is used afterwards, which is gone by then.
fn at_the_end(run: impl FnOnce() + 'static) {
    LAST.with_borrow_mut(|last| last.0 = Some(Box::new(run)));
}

fn client() -> Client {
    Client::connect("memory://").expect("memory is there")
}

#[distributed_lock(key = "order", client = client)]
fn work(client: &Client) -> Result<(), Error> {
    assert!(dlock::current().is_some());
    Ok(())
}

#[test]
fn nothing_is_held_there() {
    let (tell, told) = mpsc::channel();
    let ends = thread::spawn(move || {
        at_the_end(move || tell.send(dlock::current().is_none()).expect("heard"));
        work(&client()).expect("free");
    });
    assert!(told.recv_timeout(scaled(SOON)).expect("it ends"));
    ends.join().expect("no panic");
}

#[test]
fn a_call_is_refused_there() {
    let (tell, told) = mpsc::channel();
    let ends = thread::spawn(move || {
        let client = client();
        let again = client.clone();
        at_the_end(move || tell.send(work(&again)).expect("heard"));
        work(&client).expect("free");
    });
    let refused = told.recv_timeout(scaled(SOON)).expect("it ends");
    let error = refused.expect_err("nobody can wait there");
    assert!(error.is_would_deadlock(), "{error}");
    ends.join().expect("no panic");
}

#[test]
fn a_guard_that_is_kept_until_then_is_released() {
    let client = client();
    let lock = client.rw_lock("order").expect("valid");
    let kept = client.rw_lock("order").expect("valid");
    let ends = thread::spawn(move || {
        GUARD.with_borrow_mut(|guard| *guard = Some(kept.write().expect("free")));
    });
    ends.join().expect("no panic");
    let guard = lock.write_timeout(scaled(SOON)).expect("free");
    guard.release().expect("held to the end");
}
