//! w9: the client's memory over many lock/unlock pairs on distinct keys.

use std::ops::Range;

use dlock::Client;

use super::{LEASE, Lab, many};
use crate::{
    measure::{count, resident_bytes},
    results::Results,
    system::{Kind, client},
};

const TASKS: usize = 128;

pub(super) async fn run(lab: &Lab, results: &mut Results) {
    let pairs = lab.pick(5000, 100_000, 1_000_000);
    let client = client(&lab.standalone.setup(LEASE)).await;
    // Allocators keep what they once had; growth is what counts.
    turn_over(&client, 0..pairs / 10).await;
    let start = resident_bytes();
    turn_over(&client, pairs / 10..pairs).await;
    let end = resident_bytes();
    let (start, end) = (count(start), count(end));
    let mut row = results.row("w9", "dlock");
    row.add("pairs", "1", count(pairs));
    row.add("memory after a tenth", "MB", start / 1e6);
    row.add("memory at the end", "MB", end / 1e6);
    let growth = (end - start) / (count(pairs) * 0.9);
    row.add("growth", "bytes/pair", growth);
    lab.standalone.flush().await;
}

async fn turn_over(client: &Client, locks: Range<usize>) {
    let client = client.clone();
    let pair = move |n| {
        let lock = client.rw_lock(Kind::Dlock.key("w9", n));
        let lock = lock.expect("a valid name");
        async move {
            let guard = lock.write().await.expect("the lock is free");
            guard.release().await.expect("the lock was held");
        }
    };
    many::divide(TASKS, locks, pair).await;
}
