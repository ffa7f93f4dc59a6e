//! w6: processes die.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use tokio::task::JoinHandle;

use super::{
    Lab,
    contest::{Contender, Contest},
};
use crate::{
    results::Results,
    server::Site,
    system::{Kind, Mode, System, with_system},
};

const LEASE: Duration = Duration::from_secs(2);

pub(super) async fn run(lab: &Lab, results: &mut Results) {
    let site = &lab.standalone;
    for _ in 0..lab.repeats {
        // All at the same time: mostly they wait for leases to end.
        let deaths = lab.chosen(&Kind::LOCKS).map(|kind| async move {
            with_system!(kind, S => (
                kind,
                dead_holder::<S>(kind, site).await,
                dead_waiter::<S>(kind, site).await,
            ))
        });
        for (kind, holder, waiter) in join_all(deaths).await {
            let label = site.label(kind);
            let mut row = results.row("w6", &label);
            row.add("grant after a holder's death", "ms", ms(holder));
            row.add("grant past a dead waiter", "ms", ms(waiter));
        }
        site.flush().await;
    }
}

fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

fn key(kind: Kind) -> String {
    keeper(kind).key()
}

/// A process that takes the lock and would keep it for a minute.
fn keeper(kind: Kind) -> Contest {
    let minute = Duration::from_mins(1);
    Contest {
        hold: minute,
        lease: LEASE,
        ..Contest::new(kind, "w6", minute)
    }
}

/// Waits for the lock, and gives the time of the grant.
fn wait<S: System>(system: S, kind: Kind) -> JoinHandle<Instant> {
    tokio::spawn(async move {
        let granted = async { Instant::now() };
        system.locked(Mode::Write, &key(kind), granted).await
    })
}

/// From the death of the holder to the grant to who waits.
async fn dead_holder<S: System>(kind: Kind, site: &Site) -> Duration {
    let system = S::connect(&site.setup(LEASE)).await;
    let mut holder = Contender::start(&keeper(kind), site).await;
    holder.go().await;
    // Long enough to hold it, and at any point between two renewals.
    tokio::time::sleep(Duration::from_millis(300 + fastrand::u64(0..700))).await;
    let waiter = wait(system, kind);
    tokio::time::sleep(Duration::from_millis(200)).await;
    let died = Instant::now();
    holder.kill().await;
    let granted = waiter.await.expect("the lock is granted");
    assert!(granted > died, "the holder held it until it died");
    granted - died
}

/// From the release to the grant, when the first who waits has just died.
async fn dead_waiter<S: System>(kind: Kind, site: &Site) -> Duration {
    let setup = site.setup(LEASE);
    let (holder, waiter) = (S::connect(&setup).await, S::connect(&setup).await);
    let (finish, told_to_finish) = tokio::sync::oneshot::channel();
    let (begin, has_begun) = tokio::sync::oneshot::channel();
    let holding = tokio::spawn(async move {
        let body = async move {
            let _ = begin.send(());
            let _ = told_to_finish.await;
            Instant::now()
        };
        holder.locked(Mode::Write, &key(kind), body).await
    });
    has_begun.await.expect("the lock is free at first");
    let mut first = Contender::start(&keeper(kind), site).await;
    first.go().await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    let second = wait(waiter, kind);
    tokio::time::sleep(Duration::from_millis(300)).await;
    first.kill().await;
    finish.send(()).expect("the holder waits for this");
    let released = holding.await.expect("the lock was held");
    second.await.expect("the lock is granted") - released
}
