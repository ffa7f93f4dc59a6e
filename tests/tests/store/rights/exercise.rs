//! Everything that a client does with a server.

use std::sync::atomic::AtomicU64;
use std::time::Duration;

use dlock::__internals::{
    ClientId, Endpoint, Extent, HoldId, Op, RedisStore, ServerToken, Stray, lock_key,
};
use dlock::{Client, Error, LockMode};
use dlock_tests::{builder, scaled, slot_of_lock};
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};

use crate::rights::mutexes::mutexes;
use crate::rights::site::{Site, User};

/// Patience with what cannot work.
pub(crate) fn patience() -> Duration {
    scaled(Duration::from_millis(1500))
}

/// Short enough to be outlived.
pub(crate) const LEASE: Duration = Duration::from_millis(600);

/// For how long a subscription lingers at most, and some more.
const LINGER: Duration = Duration::from_secs(10);

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(10);

/// Held by the user who moves a slot, which is the same for all: the prefix is not in a lock's hash tag.
static MOVING: Mutex<()> = Mutex::const_new(());

/// The errors of a user who does all that there is to do.
pub(crate) async fn exercise(site: &Site, user: &User) -> Vec<Error> {
    let url = site.url(user);
    let mut errors = Vec::new();
    let clients = async {
        let settings = || builder(&url, &user.prefix).retry_for(patience());
        let one = settings().lease(LEASE).build().await?;
        Ok::<_, Error>((one, settings().build().await?))
    };
    let (one, two) = match clients.await {
        Ok(clients) => clients,
        Err(error) => return vec![error],
    };
    let mut note = |outcome: Result<(), Error>| errors.extend(outcome.err());
    note(hold(&one).await);
    note(share(&one, &two).await);
    note(hand_over(&one, &two, site, user).await);
    note(give_up(&one, &two).await);
    note(look(&two).await);
    for outcome in mutexes(&one, &two, user).await {
        note(outcome);
    }
    for outcome in operations(&url, user).await {
        note(outcome);
    }
    if let Site::Cluster(cluster) = site {
        let alone = MOVING.lock().await;
        let slot = slot_of_lock(&user.prefix, "moving");
        let to = (cluster.master_of(slot).await + 1) % cluster.len();
        let migration = cluster.begin_migration(slot, to).await;
        note(take(&one, "moving").await);
        migration.finish().await;
        drop(alone);
    }
    // What was subscribed lingers, and goes then, unless the user may not let it go.
    let gone = || async { !site.hears(user).await };
    eventually(scaled(LINGER), gone).await;
    note(one.shutdown().await);
    note(two.shutdown().await);
    errors
}

/// Waits for what may not come, as a right is missing.
pub(crate) async fn eventually<F: Future<Output = bool>>(
    within: Duration,
    condition: impl Fn() -> F,
) {
    let deadline = Instant::now() + within;
    while !condition().await && Instant::now() < deadline {
        tokio::time::sleep(PAUSE).await;
    }
}

async fn take(client: &Client, name: &str) -> Result<(), Error> {
    let guard = client.rw_lock(name)?.write_timeout(patience()).await?;
    guard.release().await
}

/// A hold that is renewed, and one with a long lease.
async fn hold(client: &Client) -> Result<(), Error> {
    let lock = client.rw_lock("held")?;
    let guard = lock.write().await?;
    let over = Instant::now() + LEASE;
    // Until it has been renewed, or is lost.
    let decided = || async { guard.is_lost() || Instant::now() > over };
    eventually(2 * LEASE, decided).await;
    guard.check()?;
    guard.release().await?;
    let long = client.rw_lock("long")?.lease(Duration::from_secs(300));
    long.write().await?.release().await
}

/// Readers, and an owner who enters twice.
async fn share(one: &Client, two: &Client) -> Result<(), Error> {
    let (a, b) = (one.rw_lock("shared")?, two.rw_lock("shared")?);
    let first = a.read().await?;
    let second = b.read().await?;
    first.release().await?;
    second.release().await?;
    let owned = one.rw_lock("owned")?.owner("me");
    let outer = owned.write().await?;
    let inner = owned.read().await?;
    inner.release().await?;
    outer.release().await
}

/// To and fro, among processes and inside of one.
async fn hand_over(one: &Client, two: &Client, site: &Site, user: &User) -> Result<(), Error> {
    let (a, b) = (one.rw_lock("passed")?, two.rw_lock("passed")?);
    for _ in 0..3 {
        let guard = a.write().await?;
        let release = async {
            // Only a waiter who listens is told.
            let waits = || async {
                let info = a.inspect().await;
                site.hears(user).await && info.is_ok_and(|info| !info.waiters.is_empty())
            };
            eventually(patience(), waits).await;
            guard.release().await
        };
        let next = async { b.write_timeout(patience()).await?.release().await };
        let same = async { a.write_timeout(patience()).await?.release().await };
        let (released, next, same) = tokio::join!(release, next, same);
        released.and(next).and(same)?;
    }
    Ok(())
}

/// A waiter who goes.
async fn give_up(one: &Client, two: &Client) -> Result<(), Error> {
    let held = one.rw_lock("wanted")?.write().await?;
    let other = two.rw_lock("wanted")?;
    // It has a place in the line by then.
    let _ = timeout(Duration::from_millis(100), other.write()).await;
    held.release().await?;
    take(two, "wanted").await
}

/// What the tool does.
async fn look(client: &Client) -> Result<(), Error> {
    let lock = client.rw_lock("seen")?;
    let guard = lock.write().await?;
    let seen = lock.inspect().await?;
    assert_eq!(seen.holders.len(), 1);
    lock.force_release(&seen.holders[0].id).await?;
    // It is gone.
    let _ = guard.release().await;
    let names = client.list("*").await?;
    assert!(names.contains(&"seen".to_owned()), "{names:?}");
    Ok(())
}

/// Each operation by itself, also with what seldom comes along.
async fn operations(url: &str, user: &User) -> Vec<Result<(), Error>> {
    let Ok(Endpoint::Redis(mut options)) = Endpoint::parse(url) else {
        panic!("{url}");
    };
    options.prefix.clone_from(&user.prefix);
    let client = ClientId::new("exercise");
    let soon = || Instant::now() + patience();
    let store = match RedisStore::connect(*options, &client, soon()).await {
        Ok(store) => store,
        Err(error) => return vec![Err(error)],
    };
    let counter = AtomicU64::new(1);
    let hold = HoldId::next(&client, &counter);
    let (lease, stray) = (Duration::from_secs(300), Stray::Possible);
    let acquire = Op::Acquire {
        hold: hold.clone(),
        mode: LockMode::Write,
        lease,
        owner: None,
        place: None,
    };
    let renew = Op::Renew {
        hold: hold.clone(),
        lease,
        extent: Extent::Longer,
    };
    let mut release = Op::Release {
        hold: hold.clone(),
        lease,
        stray,
        spent: None,
    };
    let mut outcomes = Vec::new();
    let key = lock_key(&user.prefix, "each").expect("a good name");
    let raise = Op::Raise {
        hold: hold.clone(),
        // Far ahead of the clock: in the year 2100.
        token: ServerToken::new(4_102_444_800_000_000),
    };
    for op in [&acquire, &renew, &raise, &Op::Inspect, &release] {
        outcomes.push(store.call(&key, op, soon()).await.map(drop));
    }
    let abandon = Op::Abandon {
        hold: HoldId::next(&client, &counter),
        stray,
    };
    outcomes.push(store.call(&key, &abandon, soon()).await.map(drop));
    // Plain, where a release needs no script.
    let brief = Duration::from_secs(10);
    if let Op::Release { lease, stray, .. } = &mut release {
        (*lease, *stray) = (brief, Stray::None);
    }
    outcomes.push(store.call(&key, &release, soon()).await.map(drop));
    outcomes
}
