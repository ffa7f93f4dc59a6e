//! Waiting, but not for ever.
//!
//! ```text
//! after 50 ms: timed out
//! by hand: timed out
//! with more patience: counted 7
//! ```

use std::time::Duration;

use dlock::{Client, Error, distributed_lock};

#[distributed_lock(key = "stock", client = client, wait = patience)]
async fn count(client: &Client, patience: Duration) -> Result<u32, Error> {
    Ok(7)
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    let client = Client::connect("memory://").await?;
    let lock = client.rw_lock("stock")?;
    let held = lock.write().await?;

    let short = Duration::from_millis(50);
    match count(&client, short).await {
        Err(error) if error.is_timeout() => println!("after 50 ms: timed out"),
        other => println!("after 50 ms: {other:?}"),
    }
    match lock.write_timeout(short).await {
        Err(error) if error.is_timeout() => println!("by hand: timed out"),
        other => println!("by hand: {other:?}"),
    }

    let patient = count(&client, Duration::from_secs(10));
    let (counted, released) = tokio::join!(patient, held.release());
    released?;
    println!("with more patience: counted {}", counted?);
    Ok(())
}
