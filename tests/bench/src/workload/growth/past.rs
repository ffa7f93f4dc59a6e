//! What one operation costs after many holds that are over.

use std::time::Duration;

use dlock::{
    __internals::{Op, Stray},
    LockMode::{Read, Write},
};

use super::{
    ask::{self, LASTING},
    crowd,
    link::Link,
    single::{SAMPLES, is_done, pairs, time},
};
use crate::measure::Samples;

/// The lease of holds that are not released.
const SHORT: Duration = Duration::from_millis(200);

/// How many holds an acquire looks at whose leases may have ended (`FEW_HOLDS` of `common/record.lua`).
const REVIEWED: usize = 16;

/// What each operation costs after `n`, in us.
pub(super) async fn all(link: &mut Link, n: usize) -> Vec<(&'static str, Samples)> {
    let mut costs = after_late_requests(link, n).await;
    costs.extend(after_leases(link, n).await);
    costs
}

/// `n` holds were released of which a copy of the acquire may still come, so that each has left a tombstone.
async fn after_late_requests(link: &mut Link, n: usize) -> Vec<(&'static str, Samples)> {
    link.clear().await;
    for _ in 0..n {
        let id = ask::id();
        let released = Op::Release {
            hold: id.clone(),
            lease: LASTING,
            stray: Stray::Possible,
            spent: None,
        };
        link.run(&[ask::attempt(id, Write, LASTING), released])
            .await;
    }
    let [acquires, releases] = pairs(link, Write).await;
    vec![
        ("a writer acquires beside tombstones", acquires),
        ("a writer releases beside tombstones", releases),
    ]
}

/// The leases of `n` readers have ended beside one that goes on.
async fn after_leases(link: &mut Link, n: usize) -> Vec<(&'static str, Samples)> {
    link.clear().await;
    let lasting = crowd::hold(link, Read, 1).await.remove(0);
    crowd::hold_for(link, Read, n, SHORT).await;
    tokio::time::sleep(SHORT * 2).await;
    // Each newcomer removes a few of them.
    for _ in 0..=n / REVIEWED {
        let id = ask::id();
        link.run(&[ask::attempt(id.clone(), Read, LASTING), ask::release(id)])
            .await;
    }
    let [joins, leaves] = pairs(link, Read).await;
    let renewals = (0..SAMPLES).map(|_| ask::renew(lasting.id.clone()));
    let renewals = time(link, renewals, is_done).await;
    vec![
        ("a reader joins after leases", joins),
        ("a reader leaves after leases", leaves),
        ("renew after leases", renewals),
    ]
}
