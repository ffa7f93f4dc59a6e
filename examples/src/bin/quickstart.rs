//! Lost updates without the lock, none with it.
//!
//! Runs on `memory://`; set `DLOCK_URL` to run the same on Redis or a cluster.

use std::sync::{Arc, atomic::AtomicU64, atomic::Ordering::SeqCst};

use dlock::{Client, Error, FencingToken, distributed_lock};
use tokio::{task::JoinSet, time::Duration, time::sleep};

const TASKS: usize = 16;
const ROUNDS: usize = 25;
const DEPOSITS: u64 = (TASKS * ROUNDS) as u64;

type Deposited = Result<Option<FencingToken>, Error>;

/// Reads an account and writes it back after an await: two at once lose an update.
#[distributed_lock(key = "account:{id}", client = client, when = locking, guard = held)]
async fn deposit(client: &Client, id: u32, account: &AtomicU64, locking: bool) -> Deposited {
    let balance = account.load(SeqCst);
    sleep(Duration::from_millis(1)).await; // where a real service would ask its database
    account.store(balance + 1, SeqCst);
    Ok(held.map(|held| held.fencing_token()))
}

/// Deposits from many tasks at once; how many deposits are lost, and the last fencing token.
async fn run(clients: &[Client], locking: bool) -> Result<(u64, Option<FencingToken>), Error> {
    let (account, mut tasks) = (Arc::new(AtomicU64::new(0)), JoinSet::new());
    for client in clients.iter().cycle().take(TASKS) {
        let (client, account) = (client.clone(), Arc::clone(&account));
        tasks.spawn(async move {
            let (mut last, id) = (None, std::process::id()); // runs on one server do not meet
            for _ in 0..ROUNDS {
                last = last.max(deposit(&client, id, &account, locking).await?);
            }
            Ok(last)
        });
    }
    let tokens: Result<Vec<_>, Error> = tasks.join_all().await.into_iter().collect();
    let last = tokens?.into_iter().max().flatten();
    Ok((DEPOSITS - account.load(SeqCst), last))
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    // Two clients, as two processes would have: their tasks meet at the store.
    let settings = Client::builder()
        .url("memory://quickstart")
        .settings_from_env();
    let clients = [settings.clone().build().await?, settings.build().await?];
    let (lost_without, _) = run(&clients, false).await?;
    println!("without the lock: {DEPOSITS} deposits, {lost_without} lost");
    let (lost, token) = run(&clients, true).await?;
    println!("with the lock:    {DEPOSITS} deposits, {lost} lost");
    println!("last fencing token: {}", token.expect("each had one"));
    assert!(lost == 0 && lost_without > 0);
    println!("OK: {DEPOSITS} updates, 0 lost");
    Ok(())
}
