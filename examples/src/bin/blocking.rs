//! Without async: guards, and the attribute on a plain function.
//!
//! ```text
//! 400 of 400 deposits
//! nobody holds account:7
//! ```

use std::{
    sync::atomic::{AtomicU64, Ordering},
    thread,
};

use dlock::{Error, blocking::Client, distributed_lock};

static BALANCE: AtomicU64 = AtomicU64::new(0);

#[distributed_lock(key = "account:{id}", client = client)]
fn deposit(client: &Client, id: u64) -> Result<(), Error> {
    let balance = BALANCE.load(Ordering::Relaxed);
    thread::yield_now();
    BALANCE.store(balance + 1, Ordering::Relaxed);
    Ok(())
}

fn main() -> Result<(), Error> {
    let client = Client::connect("memory://")?;
    thread::scope(|scope| {
        let deposits = || (0..100).try_for_each(|_| deposit(&client, 7));
        let threads = [(); 4].map(|()| scope.spawn(deposits));
        let mut threads = threads.into_iter();
        threads.try_for_each(|thread| thread.join().expect("no thread panics"))
    })?;
    println!("{} of 400 deposits", BALANCE.load(Ordering::Relaxed));

    let guard = client.rw_lock("account:7")?.try_write()?;
    if let Some(guard) = guard {
        println!("nobody holds {}", guard.key().name());
        guard.release()?;
    }
    client.shutdown()
}
