//! Lost updates without the lock, none with it.
//!
//! Runs on `memory://`; set `DLOCK_URL` to run the same on Redis or a cluster.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use dlock::{Client, distributed_lock};
use metrics_exporter_prometheus::PrometheusBuilder;
use tokio::task::JoinSet;
use tokio::time::sleep;

const TASKS: usize = 16;
const ROUNDS: usize = 25;
const DEPOSITS: u64 = (TASKS * ROUNDS) as u64;

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// An account that is read, and written back after an await: two at once lose an update.
#[derive(Default)]
struct Account {
    balance: AtomicU64,
    last_token: AtomicU64,
}

impl Account {
    async fn add_one(&self) {
        let read = self.balance.load(Ordering::SeqCst);
        sleep(Duration::from_millis(1)).await; // where a real service would ask its database
        self.balance.store(read + 1, Ordering::SeqCst);
    }
}

async fn deposit_unlocked(_account_id: u64, account: &Account) -> Result<(), Failure> {
    account.add_one().await;
    Ok(())
}

#[distributed_lock(key = "account:{account_id}", mode = "write", client = client, guard = held)]
async fn deposit(client: &Client, account_id: u64, account: &Account) -> Result<(), Failure> {
    account.add_one().await;
    let token = held.fencing_token().as_u64();
    if account.last_token.swap(token, Ordering::SeqCst) >= token {
        return Err(format!("token {token} did not grow").into());
    }
    Ok(())
}

#[distributed_lock(key = "account:{account_id}", mode = "read")]
async fn balance(account_id: u64, account: &Account) -> Result<u64, Failure> {
    Ok(account.balance.load(Ordering::SeqCst))
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let metrics = PrometheusBuilder::new().install_recorder()?;
    let url = std::env::var("DLOCK_URL").unwrap_or_else(|_| "memory://quickstart".into());
    // Two clients, as two processes would have: their tasks meet at the store.
    let clients = [Client::connect(&url).await?, Client::connect(&url).await?];
    dlock::install(clients[0].clone());
    // A number of our own, so that runs on one server do not meet.
    let account_id = u64::from(std::process::id());

    let unlocked = Arc::new(Account::default());
    run(&clients, &unlocked, move |_, account| async move {
        deposit_unlocked(account_id, &account).await
    })
    .await?;
    let found = unlocked.balance.load(Ordering::SeqCst);
    let lost_without = DEPOSITS - found;
    println!("without the lock: {found} of {DEPOSITS} deposits, {lost_without} lost");

    let locked = Arc::new(Account::default());
    let mut waits = run(&clients, &locked, move |client, account| async move {
        deposit(&client, account_id, &account).await
    })
    .await?;
    let found = balance(account_id, &locked).await?;
    let lost = DEPOSITS - found;
    println!("with the lock:    {found} of {DEPOSITS} deposits, {lost} lost");

    waits.sort();
    let percentile = |p: usize| waits[(waits.len() - 1) * p / 100];
    println!(
        "deposit took (p50/p99/max): {:?} / {:?} / {:?}",
        percentile(50),
        percentile(99),
        percentile(100)
    );
    println!(
        "last fencing token: {}",
        locked.last_token.load(Ordering::SeqCst)
    );
    println!("\n{}", contention(&metrics.render()));

    for client in clients {
        client.shutdown().await?;
    }
    if lost == 0 && lost_without > 0 {
        println!("OK: {DEPOSITS} updates, 0 lost");
        Ok(())
    } else {
        println!("FAILED: {lost} lost with the lock, {lost_without} without");
        std::process::exit(1);
    }
}

/// Deposits from many tasks at once; how long each call took.
async fn run<F, Fut>(
    clients: &[Client],
    account: &Arc<Account>,
    deposit: F,
) -> Result<Vec<Duration>, Failure>
where
    F: Fn(Client, Arc<Account>) -> Fut + Copy + Send + 'static,
    Fut: Future<Output = Result<(), Failure>> + Send,
{
    let mut tasks = JoinSet::new();
    for client in clients.iter().cycle().take(TASKS) {
        let (client, account) = (client.clone(), Arc::clone(account));
        tasks.spawn(async move {
            let mut took = Vec::new();
            for _ in 0..ROUNDS {
                let began = Instant::now();
                deposit(client.clone(), Arc::clone(&account)).await?;
                took.push(began.elapsed());
            }
            Ok::<_, Failure>(took)
        });
    }
    let mut all = Vec::new();
    while let Some(took) = tasks.join_next().await {
        all.extend(took??);
    }
    Ok(all)
}

/// The part of the metrics that tells about contention.
fn contention(rendered: &str) -> String {
    let names = [
        "dlock_contended",
        "dlock_local_handovers",
        "dlock_lost",
        "dlock_acquire_wait_seconds_count",
    ];
    rendered
        .lines()
        .filter(|line| names.iter().any(|name| line.contains(name)))
        .collect::<Vec<_>>()
        .join("\n")
}
