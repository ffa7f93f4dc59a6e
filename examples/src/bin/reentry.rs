//! A function under a lock calls another under the same lock; and handles that share an owner.
//!
//! ```text
//! shipped and noted
//! the owner enters again
//! a stranger does not
//! ```

use dlock::{Client, Error, distributed_lock};

#[distributed_lock(key = "order:{id}", wait = "1s")]
async fn ship(id: u64) -> Result<(), Error> {
    note(id).await // finds the lock that this call holds
}

#[distributed_lock(key = "order:{id}", wait = "1s")]
async fn note(id: u64) -> Result<(), Error> {
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    let client = Client::connect("memory://").await?;
    dlock::install(client.clone());
    ship(42).await?;
    println!("shipped and noted");

    // By hand, and from anywhere: who names the same owner is the same holder.
    let of_request = client.rw_lock("order:42")?.owner("request 7");
    let outer = of_request.write().await?;
    if of_request.try_write().await?.is_some() {
        println!("the owner enters again");
    }
    let stranger = client.rw_lock("order:42")?.owner("request 8");
    if stranger.try_write().await?.is_none() {
        println!("a stranger does not");
    }
    outer.release().await
}
