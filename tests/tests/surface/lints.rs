//! The code the attribute generates triggers no lint in a strict crate.
#![deny(warnings, clippy::pedantic, clippy::nursery)]

use std::time::Duration;

use dlock::{Client, Error, LockMode, distributed_lock};

/// Something that has a client.
#[derive(Debug)]
pub struct Service {
    client: Client,
    tenant: String,
}

#[distributed_lock(key = "order:{order_id}", mode = "write")]
async fn plain(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

#[distributed_lock(key = "{name}", client = client, guard = held, lease = "30s", wait = "250ms")]
async fn many(client: &Client, name: &str, mut values: Vec<u64>) -> Result<Vec<u64>, Error> {
    for value in &mut values {
        tokio::task::yield_now().await;
        if *value == 0 {
            return Ok(Vec::new());
        }
        *value += held.fencing_token().as_u64();
    }
    held.check()?;
    Ok(values)
}

#[distributed_lock(key = "nightly", on_lost = "continue", max_hold = "5m", lease = Duration::from_secs(3))]
async fn nightly() -> Result<(), Error> {
    tokio::task::yield_now().await;
    Ok(())
}

#[distributed_lock(key = "job", wait = "none", on_busy = ())]
async fn job() {
    tokio::task::yield_now().await;
}

#[distributed_lock(key = "job", wait = "none", on_busy = |error| error.to_string(), when = lock, guard = held)]
async fn sometimes(lock: bool) -> String {
    job().await;
    held.map_or_else(String::new, |held| held.key().name().to_owned())
}

#[distributed_lock(keys = ["a:{first}", format!("a:{second}")], guard = locks)]
async fn several(first: u64, second: u64) -> Result<usize, Error> {
    tokio::task::yield_now().await;
    Ok(locks.len() + usize::from(first == second))
}

#[distributed_lock(keys = names.iter(), wait = "1s")]
async fn listed(names: &[String]) -> Result<usize, Error> {
    tokio::task::yield_now().await;
    Ok(names.len())
}

#[distributed_lock(key = "ledger:{name}", guard = held)]
fn at_once(name: &str) -> Result<usize, Error> {
    held.check()?;
    Ok(name.len())
}

#[distributed_lock(keys = ["a", "b"], wait = "none", on_busy = ())]
fn quietly() {}

impl Service {
    /// Looks.
    ///
    /// # Errors
    ///
    /// As the lock does.
    #[distributed_lock(key = "{self.tenant}:{item.0}", client = self.client, mode = mode, label = "look")]
    pub async fn look(&self, item: &(u32, u32), mode: LockMode) -> Result<u32, Error> {
        nightly().await?;
        Ok(item.1)
    }

    /// Ends.
    ///
    /// # Errors
    ///
    /// As the lock does.
    #[distributed_lock(key = self.tenant, client = self.client)]
    pub async fn end(self) -> Result<String, Error> {
        Ok(self.tenant)
    }

    /// Borrows.
    ///
    /// # Errors
    ///
    /// As the lock does.
    #[distributed_lock(key = "borrow", client = self.client)]
    pub async fn borrow<T: Send>(&mut self, _unused: T) -> Result<&mut String, Error> {
        Ok(&mut self.tenant)
    }
}

#[tokio::test]
async fn they_run() -> Result<(), Error> {
    let client = Client::connect("memory://").await?;
    dlock::install(client.clone());
    assert_eq!(plain(4).await?, 4);
    job().await;
    assert_eq!(several(1, 2).await?, 2);
    assert_eq!(listed(&[]).await?, 0);
    let pool = tokio::task::spawn_blocking(|| at_once("abc").inspect(|_| quietly()));
    assert_eq!(pool.await.expect("no panic")?, 3);
    assert_eq!(sometimes(false).await, "");
    assert_eq!(many(&client, "n", vec![1, 0]).await?, Vec::<u64>::new());
    let mut service = Service {
        client,
        tenant: "t".to_owned(),
    };
    assert_eq!(service.look(&(1, 2), LockMode::Read).await?, 2);
    service.borrow(1).await?.push('u');
    assert_eq!(service.end().await?, "tu");
    Ok(())
}
