//! What one operation costs among many who hold or wait.

use dlock::{
    __internals::{Op, Reply},
    LockMode::{self, Read, Write},
};

use super::{
    ask::{self, Held, LASTING},
    crowd,
    link::Link,
};
use crate::measure::Samples;

/// Of so many the median counts: a server that is interrupted goes on counting.
pub(super) const SAMPLES: usize = 15;

/// What each operation costs among `n`, in us.
pub(super) async fn all(link: &mut Link, n: usize) -> Vec<(&'static str, Samples)> {
    let mut costs = among_readers(link, n).await;
    costs.extend(in_full_house(link, n).await);
    costs.extend(before_writers(link, n).await);
    costs
}

/// What operations cost that are answered as expected.
pub(super) async fn time(
    link: &mut Link,
    ops: impl IntoIterator<Item = Op>,
    expected: impl Fn(&Reply) -> bool,
) -> Samples {
    let mut costs = Samples::default();
    for op in ops {
        let timed = link.time_one(op.clone()).await;
        assert!(expected(&timed.reply), "{op:?}: {:?}", timed.reply);
        costs.add(timed.usec);
    }
    costs
}

fn is_granted(reply: &Reply) -> bool {
    matches!(reply, Reply::Granted(_))
}

fn is_queued(reply: &Reply) -> bool {
    matches!(reply, Reply::Queued { .. })
}

pub(super) fn is_done(reply: &Reply) -> bool {
    *reply == Reply::Done
}

/// What an acquire and the release after it cost.
pub(super) async fn pairs(link: &mut Link, mode: LockMode) -> [Samples; 2] {
    let (mut acquires, mut releases) = (Samples::default(), Samples::default());
    for _ in 0..SAMPLES {
        let id = ask::id();
        let acquire = ask::attempt(id.clone(), mode, LASTING);
        acquires.merge(&time(link, [acquire], is_granted).await);
        releases.merge(&time(link, [ask::release(id)], is_done).await);
    }
    [acquires, releases]
}

/// `n` readers hold, and there are no waiters.
async fn among_readers(link: &mut Link, n: usize) -> Vec<(&'static str, Samples)> {
    link.clear().await;
    let readers = crowd::hold(link, Read, n).await;
    let [joins, leaves] = pairs(link, Read).await;
    let refused = (0..SAMPLES).map(|_| ask::attempt(ask::id(), Write, LASTING));
    let refused = time(link, refused, |reply| matches!(reply, Reply::Busy(_))).await;
    let some = || readers.iter().cycle().take(SAMPLES);
    let renewals = some().map(|held| ask::renew(held.id.clone()));
    let renewals = time(link, renewals, is_done).await;
    let stays = some().map(|held| held.id.clone());
    let mut goes_on = Samples::default();
    for id in stays {
        // Its token changes when it goes on.
        let again = ask::attempt(id.clone(), Read, LASTING);
        let reply = link.time_one(again).await.reply;
        let held = crowd::held(id, &reply);
        goes_on.merge(&time(link, [ask::yield_to_line(&held)], is_granted).await);
    }
    vec![
        ("a reader joins readers", joins),
        ("a reader leaves readers", leaves),
        ("try_write among readers", refused),
        ("renew among readers", renewals),
        ("yield among readers", goes_on),
    ]
}

/// `n` readers hold, and behind a writer others and readers wait, `n` together, but at least one of each: what they ask
/// takes different ways, and each is compared with its like.
async fn in_full_house(link: &mut Link, n: usize) -> Vec<(&'static str, Samples)> {
    link.clear().await;
    let readers = crowd::hold(link, Read, n).await;
    crowd::wait(link, &[Write], 1).await;
    let mut waiters = crowd::wait(link, &[Write, Read], n.max(2)).await;
    let mut costs = Vec::new();
    for (mode, [heartbeat, abandon, queueing]) in [
        (
            Write,
            [
                "heartbeat of a writer",
                "abandon of a writer's place",
                "a writer queues",
            ],
        ),
        (
            Read,
            [
                "heartbeat of a reader",
                "abandon of a reader's place",
                "a reader queues",
            ],
        ),
    ] {
        let alike: Vec<_> = waiters.iter().filter(|(_, of)| *of == mode).collect();
        let some = (0..SAMPLES).map(|sample| &alike[alike.len() - 1 - sample * 7 % alike.len()].0);
        let heartbeats: Vec<_> = some
            .map(|id| ask::queue(id.clone(), mode, LASTING))
            .collect();
        costs.push((heartbeat, time(link, heartbeats, is_queued).await));
        let (mut abandons, mut arrivals) = (Samples::default(), Samples::default());
        for _ in 0..SAMPLES {
            // From the middle of the line, where it is hardest to find; another one comes instead.
            let middle = waiters.len() / 2;
            let behind = waiters.iter().skip(middle).position(|(_, of)| *of == mode);
            let which = behind.map_or(0, |behind| middle + behind);
            let (leaving, _) = waiters.remove(which);
            let coming = ask::id();
            abandons.merge(&time(link, [ask::abandon(leaving)], is_done).await);
            let queue = ask::queue(coming.clone(), mode, LASTING);
            arrivals.merge(&time(link, [queue], is_queued).await);
            waiters.push((coming, mode));
        }
        costs.extend([(abandon, abandons), (queueing, arrivals)]);
    }
    let some = || (0..SAMPLES).map(|sample| sample * 7 % n);
    let renewals = some().map(|which| ask::renew(readers[which].id.clone()));
    costs.push(("renew while some wait", time(link, renewals, is_done).await));
    let yields = some().map(|which| ask::yield_to_line(&readers[which]));
    costs.push((
        "yield of a reader while some wait",
        time(link, yields, is_done).await,
    ));
    let looks = (0..SAMPLES).map(|_| Op::Inspect);
    let looks = time(link, looks, |reply| matches!(reply, Reply::Info(_))).await;
    costs.push(("inspect", looks));
    costs.push(("release of a reader while some wait", leave(link, n).await));
    costs
}

/// A reader leaves `n` others while as many wait.
async fn leave(link: &mut Link, n: usize) -> Samples {
    let mut leaving = Vec::new();
    let mut costs = Samples::default();
    while costs.len() < SAMPLES {
        let Some(Held { id, .. }) = leaving.pop() else {
            link.clear().await;
            // No reader joins once a writer waits. Of a hundred, one more or less does not matter.
            leaving = crowd::hold(link, Read, n + 1 + n / 100).await.split_off(n);
            crowd::wait(link, &[Write, Read], n).await;
            continue;
        };
        costs.merge(&time(link, [ask::release(id)], is_done).await);
    }
    costs
}

/// A writer holds, and `n` writers wait.
async fn before_writers(link: &mut Link, n: usize) -> Vec<(&'static str, Samples)> {
    link.clear().await;
    let mut held = crowd::hold(link, Write, 1).await.remove(0);
    crowd::wait(link, &[Write], n).await;
    let (mut releases, mut yields) = (Samples::default(), Samples::default());
    for _ in 0..SAMPLES {
        releases.merge(&time(link, [ask::release(held.id.clone())], is_done).await);
        held = handed_over(link, &held).await;
        yields.merge(&time(link, [ask::yield_to_line(&held)], is_done).await);
        held = handed_over(link, &held).await;
    }
    vec![
        ("release, writer to writer", releases),
        ("yield, writer to writer", yields),
    ]
}

/// The hold that the only message grants, after another. Another waiter comes.
async fn handed_over(link: &mut Link, before: &Held) -> Held {
    let messages = link.messages();
    let [message] = &messages[..] else {
        panic!("one is told, once: {messages:?}");
    };
    let held = ask::granted(message).expect("a writer is told that it holds");
    assert!(held.token > before.token, "tokens grow");
    crowd::wait(link, &[Write], 1).await;
    held
}
