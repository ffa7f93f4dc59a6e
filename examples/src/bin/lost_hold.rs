//! A lock that is lost while it is held: the body is dropped, or goes on and can ask.
//!
//! ```text
//! dropped: lock lost
//! went on, and was told: lock lost
//! a guard is told: lock lost
//! ```

use std::{future::pending, time::Duration};

use dlock::{Client, Error, distributed_lock};

// `max_hold` is one way to lose a lock. Others are a server that forgot it, and a process that was paused for too long.
#[distributed_lock(key = "job", lease = "200ms", max_hold = "200ms")]
async fn hangs() -> Result<(), Error> {
    pending().await
}

#[distributed_lock(key = "job", lease = "200ms", max_hold = "200ms", on_lost = "continue", guard = held)]
async fn asks() -> Result<(), Error> {
    held.lost().await;
    held.check() // before each step that matters
}

fn told(outcome: &Result<(), Error>) -> &'static str {
    match outcome {
        Err(error) if error.is_lost() => "lock lost",
        Err(_) => "another error",
        Ok(()) => "all is well",
    }
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    let client = Client::connect("memory://").await?;
    dlock::install(client.clone());
    println!("dropped: {}", told(&hangs().await));
    println!("went on, and was told: {}", told(&asks().await));

    let bound = Duration::from_millis(200);
    let lock = client.rw_lock("job")?.lease(bound).max_hold(bound);
    let guard = lock.write().await?;
    guard.lost().await;
    println!("a guard is told: {}", told(&guard.check()));
    Ok(())
}
