//! Testing functions under locks: no server, tests side by side, and a look at what was locked.
//!
//! ```text
//! took `order:7` for writing
//! a busy lock is an error: timed out
//! ```

use dlock::{Error, LockMode, distributed_lock, testing::Scope};

#[distributed_lock(key = "order:{id}", wait = "20ms")]
async fn ship(id: u64) -> Result<u64, Error> {
    Ok(id)
}

// In a crate's tests, this would be a `#[tokio::test]`.
async fn ship_locks_the_order() -> Result<(), Error> {
    // Lends a client of its own to what runs inside, whichever is installed.
    let scope = Scope::memory().await?;
    assert_eq!(scope.run(ship(7)).await?, 7);
    scope.assert_took("order:7", LockMode::Write);
    for taken in scope.taken() {
        println!("took {taken}");
    }
    Ok(())
}

async fn ship_gives_up_on_a_busy_order() -> Result<(), Error> {
    let scope = Scope::memory().await?;
    let _held = scope.client().rw_lock("order:7")?.write().await?;
    let error = scope.run(ship(7)).await.expect_err("somebody has it");
    assert!(error.is_timeout());
    println!("a busy lock is an error: timed out");
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    ship_locks_the_order().await?;
    ship_gives_up_on_a_busy_order().await
}
