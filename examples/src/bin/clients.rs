//! Where a function finds its client: installed once, or named with `client = ..`.
//!
//! ```text
//! by the installed client, under the prefix dlock
//! by the shop's own, under the prefix shop
//! ```

use std::time::Duration;

use dlock::{Client, Error, distributed_lock};

#[distributed_lock(key = "order:{id}", guard = held)]
async fn ship(id: u64) -> Result<String, Error> {
    Ok(held.key().as_str().to_owned())
}

struct Shop {
    locks: Client,
}

impl Shop {
    #[distributed_lock(key = "order:{id}", client = self.locks, guard = held)]
    async fn ship(&self, id: u64) -> Result<String, Error> {
        Ok(held.key().as_str().to_owned())
    }
}

fn prefix(key: &str) -> &str {
    key.split(':').next().unwrap_or_default()
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    dlock::install(Client::connect("memory://").await?);
    let key = ship(42).await?;
    println!("by the installed client, under the prefix {}", prefix(&key));

    let locks = Client::builder()
        .url("memory://") // redis://user:password@host:port,host:port for a cluster
        .prefix("shop")
        .lease(Duration::from_secs(10))
        .build()
        .await?;
    let shop = Shop { locks };
    let key = shop.ship(42).await?;
    println!("by the shop's own, under the prefix {}", prefix(&key));
    shop.locks.shutdown().await
}
