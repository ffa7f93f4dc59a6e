//! What has to be sent to a server that is down waits for it, and costs nothing meanwhile.

use std::time::Duration;

use dlock_tests::wait_until;
use futures_util::StreamExt;
use tokio::time::{Instant, sleep};

use crate::{Fault, Quorum};

const PENDING: usize = 8_000;
/// What an idle client may use of a processor.
const PERCENT: f64 = 8.0;
const IDLE: Duration = Duration::from_secs(4);

/// The processor time of this process so far.
fn cpu() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("Linux");
    let (_, fields) = stat.rsplit_once(')').expect("a name in brackets");
    let ticks = fields.split_whitespace().skip(11).take(2);
    let ticks: u64 = ticks
        .map(|ticks| ticks.parse::<u64>().expect("a number"))
        .sum();
    Duration::from_millis(10 * ticks)
}

#[tokio::test(flavor = "multi_thread")]
async fn thousands_of_messages_to_a_dead_server_cost_nothing_and_arrive() {
    let quorum = Quorum::start(3).await;
    let client = quorum.builder().lease(Duration::from_secs(300));
    let client = client.build().await.expect("all are there");
    let locks = (0..PENDING).map(|number| client.rw_lock(format!("a-{number}")).expect("ok"));
    let held =
        futures_util::stream::iter(locks).map(async |lock| lock.write().await.expect("free"));
    let held: Vec<_> = held.buffer_unordered(64).collect().await;
    let keys = async || -> usize {
        let keys: Vec<String> = quorum.servers[quorum.victim].query(&["KEYS", "*"]).await;
        keys.len()
    };
    let recorded = keys().await;
    assert!(recorded > PENDING / 2, "{recorded}");
    quorum.begin(Fault::Refusing);
    let released = futures_util::stream::iter(held).map(async |guard| guard.release().await);
    let released: Vec<_> = released.buffer_unordered(64).collect().await;
    assert!(released.iter().all(Result::is_ok));
    // The releases themselves are over.
    sleep(Duration::from_secs(2)).await;
    let (before, begun) = (cpu(), Instant::now());
    sleep(IDLE).await;
    let used = cpu()
        .saturating_sub(before)
        .div_duration_f64(begun.elapsed())
        * 100.0;
    println!("{recorded} pending messages: {used:.1} % of a processor");
    assert!(used < PERCENT, "{used:.1} %");
    quorum.end(Fault::Refusing).await;
    wait_until(Duration::from_secs(20), "no hold is left there", || async {
        let holds: Vec<String> = quorum.servers[quorum.victim].query(&["KEYS", "*"]).await;
        let mut left = 0;
        for key in holds.iter().take(200) {
            let fields: usize = quorum.servers[quorum.victim].query(&["HLEN", key]).await;
            left += usize::from(fields > 1);
        }
        left == 0
    })
    .await;
    client.shutdown().await.expect("all is given back");
}
