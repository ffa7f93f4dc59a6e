//! Many who hold or wait.

use std::time::Duration;

use dlock::{
    __internals::{HoldId, Op, Reply},
    LockMode,
};

use super::{
    ask::{self, Held, LASTING},
    link::Link,
};

/// `n` holders take the lock for [`LASTING`]; all succeed.
pub(super) async fn hold(link: &mut Link, mode: LockMode, n: usize) -> Vec<Held> {
    hold_for(link, mode, n, LASTING).await
}

/// `n` holders take the lock; all succeed.
pub(super) async fn hold_for(
    link: &mut Link,
    mode: LockMode,
    n: usize,
    lease: Duration,
) -> Vec<Held> {
    let ids: Vec<HoldId> = (0..n).map(|_| ask::id()).collect();
    let ops = ids.iter().map(|id| ask::attempt(id.clone(), mode, lease));
    let replies = link.run(&ops.collect::<Vec<_>>()).await;
    let pairs = ids.into_iter().zip(replies);
    pairs.map(|(id, reply)| held(id, &reply)).collect()
}

/// The hold that was granted.
pub(super) fn held(id: HoldId, reply: &Reply) -> Held {
    match reply {
        Reply::Granted(token) => Held { id, token: *token },
        other => panic!("{id} is not granted: {other:?}"),
    }
}

/// Lets so many wait; one after the other in each of these modes in turn.
pub(super) async fn wait(link: &mut Link, modes: &[LockMode], n: usize) -> Vec<(HoldId, LockMode)> {
    let waiters = modes.iter().cycle().take(n);
    let waiters: Vec<_> = waiters.map(|mode| (ask::id(), *mode)).collect();
    let ops: Vec<Op> = waiters
        .iter()
        .map(|(id, mode)| ask::queue(id.clone(), *mode, LASTING))
        .collect();
    for reply in link.run(&ops).await {
        assert!(matches!(reply, Reply::Queued { .. }), "{reply:?}");
    }
    waiters
}
