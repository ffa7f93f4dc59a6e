//! Many who want the same lock, so that attempts meet and share the servers out among them.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use dlock::{Client, LockMode};
use dlock_tests::scaled;
use tokio::task::JoinSet;

use crate::quorum_servers::Servers;
use crate::quorum_servers::judge::Judge;

/// How long contenders go on.
const RUN: Duration = Duration::from_secs(6);
/// How long it may stay free although all want it.
const LIVE: Duration = Duration::from_secs(3);

/// When the lock was free and wanted by all.
#[derive(Debug)]
struct Gaps(Mutex<(Instant, Vec<Duration>)>);

impl Gaps {
    fn new() -> Self {
        Self(Mutex::new((Instant::now(), Vec::new())))
    }

    fn free(&self) {
        self.0.lock().expect("no panic").0 = Instant::now();
    }

    fn granted(&self) {
        let mut gaps = self.0.lock().expect("no panic");
        let gap = gaps.0.elapsed();
        gaps.1.push(gap);
    }

    fn sorted(&self) -> Vec<Duration> {
        let mut gaps = self.0.lock().expect("no panic").1.clone();
        gaps.sort_unstable();
        gaps
    }
}

async fn contend(client: Client, judge: Arc<Judge>, gaps: Arc<Gaps>, reads: u64, end: Instant) {
    let lock = client.rw_lock("wanted").expect("ok");
    while Instant::now() < end {
        if fastrand::u64(0..100) < reads {
            let guard = lock.read().await.expect("its turn");
            judge.enter(LockMode::Read, guard.fencing_token());
            tokio::time::sleep(Duration::from_millis(1)).await;
            guard.check().expect("held");
            judge.leave(LockMode::Read);
            guard.release().await.expect("held");
        } else {
            let guard = lock.write().await.expect("its turn");
            gaps.granted();
            judge.enter(LockMode::Write, guard.fencing_token());
            tokio::time::sleep(Duration::from_millis(1)).await;
            guard.check().expect("held");
            judge.leave(LockMode::Write);
            gaps.free();
            guard.release().await.expect("held");
        }
    }
}

async fn crowd(count: usize, reads: u64) {
    let five = Servers::start(5).await;
    let (judge, gaps) = (Arc::new(Judge::default()), Arc::new(Gaps::new()));
    let mut clients = Vec::new();
    for _ in 0..count {
        clients.push(five.client().await);
    }
    let end = Instant::now() + RUN;
    gaps.free();
    let mut tasks = JoinSet::new();
    for client in clients {
        let (judge, gaps) = (Arc::clone(&judge), Arc::clone(&gaps));
        tasks.spawn(contend(client, judge, gaps, reads, end));
    }
    while let Some(ended) = tasks.join_next().await {
        ended.expect("no panic");
    }
    judge.assert_clean();
    let gaps = gaps.sorted();
    let at = |percent: usize| {
        gaps.get(gaps.len() * percent / 100)
            .copied()
            .unwrap_or_default()
    };
    println!(
        "{count} contenders, {reads} % readers: {} grants in {RUN:?}; without a writer for {:?} (half), {:?} (99 %), {:?} \
         at most",
        judge.grants(),
        at(50),
        at(99),
        gaps.last().copied().unwrap_or_default()
    );
    assert!(judge.grants() > 20);
    if reads == 0 {
        assert!(gaps.last() < Some(&scaled(LIVE)), "{:?}", gaps.last());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_do_not_wait_for_each_other() {
    crowd(2, 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn eight_do_not_wait_for_each_other() {
    crowd(8, 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn thirty_two_do_not_wait_for_each_other() {
    crowd(32, 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn readers_and_writers_keep_apart() {
    crowd(8, 60).await;
}
