//! A hold that is given up on purpose does not count as lost. Apart from other tests: it reads the metrics of its
//! process.

use std::time::Duration;

use dlock::__internals::Script;
use dlock_tests::{ProxiedLock, its_turn, queue, request_of, wait_free, wait_waiters};
use metrics_exporter_prometheus::PrometheusBuilder;

/// Renewed at a third of it.
const LEASE: Duration = Duration::from_millis(900);
/// Longer than a renewal takes to fall due, shorter than the lease.
const DOUBT: Duration = Duration::from_millis(600);
/// Longer than a process passes a hold on without asking.
const SLICE: Duration = Duration::from_millis(10);

#[tokio::test]
async fn a_renewal_that_crosses_a_yield_is_no_loss() {
    let exporter = PrometheusBuilder::new()
        .install_recorder()
        .expect("no other recorder is installed");
    let ProxiedLock {
        proxy,
        lock,
        witness: elsewhere,
        ..
    } = ProxiedLock::start(|client| client.lease(LEASE)).await;

    let guard = lock.write().await.expect("free");
    let next = queue(&elsewhere);
    wait_waiters(&elsewhere, 1).await;
    let local = queue(&lock);
    tokio::time::sleep(SLICE).await;
    // The yield is executed, and its answer is lost for so long that the hold, which has ended, is due to be renewed.
    let request = request_of(Script::Yield);
    proxy.cut_after_request(&request, 1);
    proxy.cut_before_request(&request, usize::MAX);
    guard.release().await.expect("held to the end");
    let guard = next.await.expect("no panic").expect("its turn");
    tokio::time::sleep(DOUBT).await;
    proxy.pass();
    guard.release().await.expect("held to the end");
    let guard = its_turn(local).await;
    guard.release().await.expect("held to the end");
    wait_free(&elsewhere).await;

    let text = exporter.render();
    let lost: Vec<&str> = text
        .lines()
        .filter(|line| line.starts_with("dlock_lost_total{") && !line.ends_with(" 0"))
        .collect();
    assert!(lost.is_empty(), "{lost:?}");
}
