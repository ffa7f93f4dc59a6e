//! Only if no other process does it: a job that one of several processes does, and the others skip.
//!
//! ```text
//! Ann did the report
//! Bob: somebody else is at it
//! Bob by hand: somebody else is at it
//! Bob did the report
//! ```

use dlock::{Client, Error, distributed_lock};

#[distributed_lock(key = "report", client = client, wait = "none", on_busy = Ok("somebody else is at it"))]
async fn report(client: &Client) -> Result<&'static str, Error> {
    Ok("did the report")
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    // Two clients of one store, as two processes would have.
    let ann = Client::connect("memory://jobs").await?;
    let bob = Client::connect("memory://jobs").await?;
    println!("Ann {}", report(&ann).await?);

    let held = ann.rw_lock("report")?.write().await?;
    println!("Bob: {}", report(&bob).await?);
    if bob.rw_lock("report")?.try_write().await?.is_none() {
        println!("Bob by hand: somebody else is at it");
    }
    held.release().await?;
    println!("Bob {}", report(&bob).await?);
    Ok(())
}
