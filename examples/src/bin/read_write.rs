//! Readers share, a writer is alone.
//!
//! ```text
//! two readers at once
//! a writer has to wait for them
//! a waiting writer keeps new readers out
//! the price is 8 now
//! ```

use std::sync::atomic::{AtomicU32, Ordering};

use dlock::{Client, Error, distributed_lock};

static PRICE: AtomicU32 = AtomicU32::new(7);

#[distributed_lock(key = "price:{item}", mode = "read", client = client)]
async fn price(client: &Client, item: &str) -> Result<u32, Error> {
    Ok(PRICE.load(Ordering::Relaxed))
}

#[distributed_lock(key = "price:{item}", mode = "write", client = client)]
async fn raise(client: &Client, item: &str) -> Result<(), Error> {
    PRICE.fetch_add(1, Ordering::Relaxed);
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    let client = Client::connect("memory://").await?;
    let lock = client.rw_lock("price:tea")?;
    let readers = (lock.read().await?, lock.read().await?);
    println!("two readers at once");
    if lock.try_write().await?.is_none() {
        println!("a writer has to wait for them");
    }

    let raising = raise(&client, "tea");
    tokio::pin!(raising);
    // Once polled, it waits in line.
    tokio::select! {
        biased;
        _ = &mut raising => println!("not yet!"),
        () = tokio::task::yield_now() => {}
    }
    if lock.try_read().await?.is_none() {
        println!("a waiting writer keeps new readers out");
    }
    drop(readers);
    raising.await?;
    println!("the price is {} now", price(&client, "tea").await?);
    Ok(())
}
