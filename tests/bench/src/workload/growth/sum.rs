//! What it costs in sum when many come or go.

use std::time::{Duration, Instant};

use dlock::{
    __internals::Reply,
    LockMode::{Read, Write},
};

use super::{
    ask::{self, LASTING},
    crowd,
    link::Link,
    sequence::Sequence,
};
use crate::{measure::Samples, workload::Effort};

/// How often each is done, by thoroughness. An expensive step is expensive every time; what happens to the server does not
/// happen at the same step each time.
const RUNS: [usize; 3] = [1, 3, 3];

/// How many are asked for at a time.
const BATCH: usize = 100;

/// How long those live who crash, by thoroughness; they take their holds and places within it.
const SHORT: [Duration; 3] = [
    Duration::from_secs(1),
    Duration::from_millis(2500),
    Duration::from_millis(2500),
];

/// What a sequence of operations costs.
#[derive(Debug)]
pub(super) struct Sum {
    /// Each operation in us, in order, at its best of all runs.
    pub(super) steps: Samples,
    /// What waiters were told.
    pub(super) messages: usize,
}

/// What came of one run.
#[derive(Debug, Default)]
struct Run {
    steps: Vec<f64>,
    messages: usize,
}

/// Carries out a sequence with `n` who take part.
pub(super) async fn measure(link: &mut Link, sequence: Sequence, n: usize, effort: Effort) -> Sum {
    let [smoke, quick, full] = SHORT;
    let short = effort.pick(smoke, quick, full);
    let [smoke, quick, full] = RUNS;
    let mut runs = Vec::new();
    for _ in 0..effort.pick(smoke, quick, full) {
        link.clear().await;
        runs.push(match sequence {
            Sequence::Drain => drain(link, n).await,
            Sequence::Phase => phase(link, n).await,
            Sequence::CrashedHolds => crashed_holds(link, n, short).await,
            Sequence::CrashedPlaces => crashed_places(link, n, short).await,
        });
    }
    best(&runs)
}

fn best(runs: &[Run]) -> Sum {
    let steps = runs.iter().map(|run| run.steps.len()).max().unwrap_or(0);
    let at = |step| {
        let costs = runs.iter().filter_map(move |run| run.steps.get(step));
        costs.copied().fold(f64::INFINITY, f64::min)
    };
    Sum {
        steps: (0..steps).map(at).collect(),
        messages: runs.iter().map(|run| run.messages).max().unwrap_or(0),
    }
}

/// Readers leave one by one while a writer waits, who gets the lock from the last.
async fn drain(link: &mut Link, n: usize) -> Run {
    let readers = crowd::hold(link, Read, n).await;
    let writer = crowd::wait(link, &[Write], 1).await.remove(0).0;
    let mut run = Run::default();
    for leaving in readers.chunks(BATCH) {
        let releases: Vec<_> = leaving
            .iter()
            .map(|held| ask::release(held.id.clone()))
            .collect();
        for timed in link.time(&releases).await {
            assert_eq!(timed.reply, Reply::Done);
            run.steps.push(timed.usec);
        }
    }
    let told = link.messages();
    run.messages = told.len();
    let held = told.iter().find_map(ask::granted);
    assert_eq!(held.map(|held| held.id), Some(writer), "it gets the lock");
    run
}

/// A writer leaves, and the readers who wait enter as they are told to.
async fn phase(link: &mut Link, n: usize) -> Run {
    let writer = crowd::hold(link, Write, 1).await.remove(0);
    crowd::wait(link, &[Read], n).await;
    let mut run = Run::default();
    run.steps
        .push(link.time_one(ask::release(writer.id)).await.usec);
    let mut inside = 0;
    loop {
        let told = link.messages();
        if told.is_empty() {
            break;
        }
        run.messages += told.len();
        for batch in told.chunks(BATCH) {
            let entering = batch.iter().map(|message| message.hold().clone());
            let entering: Vec<_> = entering.map(|id| ask::queue(id, Read, LASTING)).collect();
            for timed in link.time(&entering).await {
                assert!(matches!(timed.reply, Reply::Granted(_)), "{timed:?}");
                run.steps.push(timed.usec);
                inside += 1;
            }
        }
    }
    assert_eq!(inside, n, "all who wait are told");
    run
}

/// Readers crash, and a writer who waits gets the lock.
async fn crashed_holds(link: &mut Link, n: usize, short: Duration) -> Run {
    let start = Instant::now();
    crowd::hold_for(link, Read, n, short).await;
    outlive(start, short).await;
    let mut run = Run::default();
    ask_until_granted(link, &mut run, n).await;
    run
}

/// Writers who wait crash, and one who came after them gets the lock when it is released.
async fn crashed_places(link: &mut Link, n: usize, short: Duration) -> Run {
    let start = Instant::now();
    let writer = crowd::hold(link, Write, 1).await.remove(0);
    let crash = (0..n).map(|_| ask::queue(ask::id(), Write, short));
    link.run(&crash.collect::<Vec<_>>()).await;
    outlive(start, short).await;
    let mut run = Run::default();
    run.steps
        .push(link.time_one(ask::release(writer.id)).await.usec);
    // The notified waiter is dead.
    run.messages = link.messages().len();
    ask_until_granted(link, &mut run, n).await;
    run
}

/// Waits until what was taken for `short` since `start` is over.
async fn outlive(start: Instant, short: Duration) {
    assert!(start.elapsed() < short, "the server is too slow for this");
    tokio::time::sleep(short + Duration::from_millis(50)).await;
}

/// A writer asks for the lock; the server may clear a part each time.
async fn ask_until_granted(link: &mut Link, run: &mut Run, n: usize) {
    let id = ask::id();
    for _ in 0..n + 10 {
        let timed = link.time_one(ask::queue(id.clone(), Write, LASTING)).await;
        run.steps.push(timed.usec);
        if matches!(timed.reply, Reply::Granted(_)) {
            return;
        }
    }
    panic!("a writer gets the lock although those before it crashed");
}
