//! w9: the client's memory over many lock/unlock pairs on distinct keys.

use dlock::Client;
use tokio::task::JoinSet;

use super::{LEASE, Lab};
use crate::{
    measure::{count, resident_bytes},
    results::Results,
    system::Kind,
};

const TASKS: usize = 128;

pub(super) async fn run(lab: &Lab, results: &mut Results) {
    if !lab.systems.contains(&Kind::Dlock) {
        return;
    }
    let pairs = lab.pick(5000, 100_000, 1_000_000);
    let setup = lab.standalone.setup(LEASE);
    let client = Client::builder().url(setup.url).lease(setup.lease);
    let client = client.build().await.expect("the servers answer");
    // Allocators keep what they once had; growth is what counts.
    turn_over(&client, 0, pairs / 10).await;
    let start = resident_bytes();
    turn_over(&client, pairs / 10, pairs).await;
    let end = resident_bytes();
    #[expect(clippy::cast_precision_loss, reason = "sizes are far below 2^52")]
    let (start, end) = (start as f64 / 1e6, end as f64 / 1e6);
    let mut add = |metric, unit, value| results.add("w9", "dlock", metric, unit, value);
    add("pairs", "1", count(pairs));
    add("memory after a tenth", "MB", start);
    add("memory at the end", "MB", end);
    add(
        "growth",
        "bytes/pair",
        (end - start) * 1e6 / (count(pairs) * 0.9),
    );
    lab.standalone.flush().await;
}

async fn turn_over(client: &Client, from: usize, to: usize) {
    let mut running = JoinSet::new();
    for task in 0..TASKS {
        let client = client.clone();
        running.spawn(async move {
            for n in (from + task..to).step_by(TASKS) {
                let lock = client
                    .rw_lock(Kind::Dlock.key("w9", n))
                    .expect("a valid name");
                let guard = lock.write().await.expect("the lock is free");
                guard.release().await.expect("the lock was held");
            }
        });
    }
    running.join_all().await;
}
