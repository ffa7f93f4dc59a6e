//! Several locks, all or none, without deadlocks in whatever order they are named.
//!
//! ```text
//! Ann has 70, Bob has 30
//! holding account:ann and account:bob
//! ```

use std::sync::Mutex;

use dlock::{Client, Error, distributed_lock};

static BALANCES: Mutex<[i32; 2]> = Mutex::new([50, 50]);

#[distributed_lock(keys = ["account:{from}", "account:{to}"], wait = "10s")]
async fn transfer(from: &str, to: &str, amount: i32) -> Result<(), Error> {
    tokio::task::yield_now().await; // where a database would be asked
    let mut balances = BALANCES.lock().expect("nobody panics");
    let [ann, bob] = &mut *balances;
    let (from, to) = if from == "ann" {
        (ann, bob)
    } else {
        (bob, ann)
    };
    *from -= amount;
    *to += amount;
    Ok(())
}

#[distributed_lock(keys = names.iter().map(|name| format!("account:{name}")), guard = locks)]
async fn audit(names: &[&str]) -> Result<String, Error> {
    let names: Vec<_> = locks.iter().map(|lock| lock.key().name()).collect();
    Ok(names.join(" and "))
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    dlock::install(Client::connect("memory://").await?);
    let (there, back) = tokio::join!(transfer("ann", "bob", 10), transfer("bob", "ann", 30));
    there.and(back)?;
    let [ann, bob] = *BALANCES.lock().expect("nobody panics");
    println!("Ann has {ann}, Bob has {bob}");
    println!("holding {}", audit(&["ann", "bob"]).await?);
    Ok(())
}
