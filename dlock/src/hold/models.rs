//! Models of what may happen to a hold at the same time.

use std::sync::{Arc, Weak};
use std::time::Duration;

use futures_util::FutureExt;
use shuttle::future::block_on;
use shuttle::thread;
use tokio::sync::mpsc::UnboundedReceiver;

use super::farewell::Watched;
use super::release::{Item, Releases};
use super::renewal::Renewals;
use super::{Granted, Hold, Keeper, OnLoss, Start, Terms};
use crate::clock::BootInstant;
use crate::error::LossReason;
use crate::key::LockKey;
use crate::kind::{LockKind, LockMode};
use crate::lease::margin;
use crate::metrics;
use crate::protocol::{HoldId, Op};
use crate::store::{MemoryStore, Store};
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::modelled::{check, fails, fails_torn};
use crate::token::ServerToken;

const LEASE: Duration = Duration::from_secs(30);
const LONG: Duration = Duration::from_secs(3600);

pub(crate) fn key() -> LockKey {
    LockKey::new("p", "lock").expect("valid")
}

/// The `n`th hold of a client.
pub(crate) fn hold(n: u64, mode: LockMode) -> Arc<Hold> {
    let terms = Terms {
        kind: LockKind::Rw,
        mode,
        lease: LEASE,
        max_hold: None,
        linger: None,
        min_hold: None,
    };
    let granted = Granted {
        id: HoldId::parse(&format!("client/1/{n:x}")).expect("valid"),
        token: ServerToken::new(n * 1000),
        start: Start::Lease(BootInstant::now()),
        longest: LEASE,
        stray_until: None,
    };
    let metrics = metrics::for_label(&"model".into(), LockKind::Rw);
    Arc::new(Hold::new(key(), terms, metrics, granted))
}

struct Nobody;

impl OnLoss for Nobody {
    fn lost(self: Arc<Self>, _: &Arc<Hold>) {}
}

/// What a keeper without tasks would have its tasks send.
pub(crate) struct Sent(UnboundedReceiver<Item>);

impl Sent {
    pub(crate) async fn next(&mut self) -> Option<Op> {
        self.0.recv().await.map(|item| item.op)
    }
}

impl Keeper {
    /// A keeper without tasks.
    pub(crate) fn idle(on_loss: Weak<dyn OnLoss>) -> (Self, Sent) {
        let (releases, receiver) = Releases::new();
        let store = Store::Memory(Arc::new(MemoryStore::new()), Arc::default());
        let renewals = Arc::new(Renewals::new(on_loss, releases.clone(), LONG));
        let keeper = Self {
            store: Arc::new(store),
            retry_for: LONG,
            renewals,
            releases,
        };
        (keeper, Sent(receiver))
    }
}

/// A release, a refused renewal and a look at the clock meet: one of them ends the hold, once.
fn ends() {
    let hold = hold(1, LockMode::Write);
    let (one, two) = (Arc::clone(&hold), Arc::clone(&hold));
    let release = thread::spawn(move || one.finish());
    let renewal = thread::spawn(move || two.lose(LossReason::Removed));
    let late = BootInstant::now() + LONG;
    let seen = hold.loss_by(late);
    let finished = release.join().expect("ends");
    let refused = renewal.join().expect("ends");
    let expired = hold.loss_by(late) == Some(LossReason::Expired);
    let ways = [finished, refused, expired]
        .iter()
        .filter(|way| **way)
        .count();
    assert_eq!(ways, 1, "ended in {ways} ways");
    assert_eq!(hold.is_released(), finished, "told otherwise");
    assert!(
        seen.is_none() || seen == hold.loss(),
        "once lost, otherwise lost"
    );
}

#[test]
fn a_hold_ends_once() {
    check(ends);
    fails_torn(ends);
}

/// Two acknowledgements and a refusal arrive in any order.
fn extends() {
    let hold = hold(1, LockMode::Write);
    let now = BootInstant::now();
    let (early, late) = (now + Duration::from_secs(1), now + Duration::from_secs(2));
    let extensions = [early, late].map(|sent_at| {
        let hold = Arc::clone(&hold);
        thread::spawn(move || hold.extend(sent_at))
    });
    let refused = Arc::clone(&hold);
    let refused = thread::spawn(move || refused.lose(LossReason::Removed));
    let [first, last] = extensions.map(|extension| extension.join().expect("ends"));
    assert!(refused.join().expect("ends"), "nothing else ends it");
    assert_eq!(hold.loss(), Some(LossReason::Removed), "came back");
    assert!(!hold.extend(late + LEASE), "extended what is lost");
    let until = |sent_at: BootInstant| sent_at + LEASE.saturating_sub(margin(LEASE));
    if last {
        assert_eq!(hold.deadline(), until(late), "went back");
    } else if first {
        assert_eq!(hold.deadline(), until(early), "went back");
    }
}

#[test]
fn acknowledgements_move_the_deadline_forward_only() {
    check(extends);
    fails_torn(extends);
}

/// Tokens are handed out while the server names a new one.
fn hands_out() {
    let hold = hold(1, LockMode::Write);
    let threads = [(); 2].map(|()| {
        let hold = Arc::clone(&hold);
        thread::spawn(move || hold.next_token())
    });
    hold.raise_token(ServerToken::new(1001));
    let [one, two] = threads.map(|thread| thread.join().expect("ends"));
    assert_ne!(one, two, "handed out twice");
    assert!(hold.last_token() >= one.max(two), "forgotten");
    assert!(hold.next_token() > one.max(two), "not larger");
}

#[test]
fn no_token_is_handed_out_twice() {
    check(hands_out);
    fails_torn(hands_out);
}

/// A hold is added while the task that renews lies down to sleep. With the mistake it does not hear what it was told
/// while it lay down.
fn falls_asleep(deaf: bool) {
    let (releases, _sent) = Releases::new();
    let on_loss: Weak<dyn OnLoss> = Weak::<Nobody>::new();
    let renewals = Arc::new(Renewals::new(on_loss, releases, LONG));
    let task = Arc::clone(&renewals);
    let task = thread::spawn(move || {
        let latest = BootInstant::now() + LONG;
        let (wake_at, _) = task.plan_sleep(latest, true);
        if deaf {
            thread::yield_now();
            let _ = task.changed.notified().now_or_never();
        }
        if wake_at.is_none() {
            block_on(task.changed.notified());
        }
        let (wake_at, empty) = task.plan_sleep(latest, false);
        assert!(!empty && wake_at < Some(latest), "sleeps through it");
    });
    let hold = hold(1, LockMode::Write);
    assert!(renewals.add(&hold), "nobody has stopped them");
    task.join().expect("ends");
}

#[test]
fn a_new_hold_wakes_the_task_that_renews() {
    check(|| falls_asleep(false));
    fails(|| falls_asleep(true));
}

/// Something is queued while the watch of its runtime sees that there is nothing left. With the mistake it has looked a
/// moment before it goes.
fn is_seen_off(hasty: bool) {
    let watched = Arc::new(Watched::new(|one: &u8, two: &u8| one == two));
    let queued = Arc::new(AtomicBool::new(false));
    assert!(watched.begin(1) && watched.begin(2), "two runtimes");
    let (watch, left) = (Arc::clone(&watched), Arc::clone(&queued));
    let watch = thread::spawn(move || {
        let nothing_left = || !left.load(Ordering::SeqCst);
        let seen = hasty && nothing_left();
        watch.end_if(&1, || seen || nothing_left())
    });
    queued.store(true, Ordering::SeqCst);
    let begins = watched.begin(1);
    let ended = watch.join().expect("ends");
    assert_eq!(begins, ended, "nobody waits for it, or two");
    assert!(!watched.begin(2), "the other's business");
}

#[test]
fn what_is_queued_is_waited_for() {
    check(|| is_seen_off(false));
    fails(|| is_seen_off(true));
}
