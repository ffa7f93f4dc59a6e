//! Everything that a client does with mutexes.

use std::time::Duration;

use dlock::{Client, Error};
use tokio::time::{Instant, timeout};

use crate::rights::exercise::{LEASE, eventually, patience};
use crate::rights::site::User;

/// The outcomes of all that there is to do.
pub(crate) async fn mutexes(one: &Client, two: &Client, user: &User) -> Vec<Result<(), Error>> {
    let name = |what: &str| user.mutexes() + what;
    vec![
        hold(one, &name("held")).await,
        fence(one, &name("fenced")).await,
        hand_over(one, two, &name("passed")).await,
        give_up(one, two, &name("wanted")).await,
        look(one, &name("seen")).await,
    ]
}

/// A hold that is renewed, and one that is left to itself.
async fn hold(client: &Client, name: &str) -> Result<(), Error> {
    let guard = client.mutex(name)?.lock_timeout(patience()).await?;
    let over = Instant::now() + LEASE;
    let decided = || async { guard.is_lost() || Instant::now() > over };
    eventually(2 * LEASE, decided).await;
    guard.check()?;
    guard.release().await?;
    let rests = client.mutex(name)?.min_hold(Duration::from_millis(100));
    rests.lock_timeout(patience()).await?.release().await
}

/// One with tokens, which is renewed, too.
async fn fence(client: &Client, name: &str) -> Result<(), Error> {
    let mutex = client.mutex(name)?.fenced()?;
    let guard = mutex.lock_timeout(patience()).await?;
    let over = Instant::now() + LEASE;
    let decided = || async { guard.is_lost() || Instant::now() > over };
    eventually(2 * LEASE, decided).await;
    guard.check()?;
    guard.release().await
}

/// To and fro, with tokens and without.
async fn hand_over(one: &Client, two: &Client, name: &str) -> Result<(), Error> {
    let (a, b) = (one.mutex(name)?, two.mutex(name)?.fenced()?);
    for _ in 0..3 {
        let guard = a.lock_timeout(patience()).await?;
        let release = async {
            let waits = || async {
                let info = a.inspect().await;
                info.is_ok_and(|info| !info.waiters.is_empty())
            };
            eventually(patience(), waits).await;
            guard.release().await
        };
        let next = async { b.lock_timeout(patience()).await?.release().await };
        let (released, next) = tokio::join!(release, next);
        released.and(next)?;
    }
    Ok(())
}

/// A waiter who goes.
async fn give_up(one: &Client, two: &Client, name: &str) -> Result<(), Error> {
    let held = one.mutex(name)?.lock_timeout(patience()).await?;
    let other = two.mutex(name)?;
    // It has a place in the line by then.
    let _ = timeout(Duration::from_millis(100), other.lock()).await;
    held.release().await?;
    other.lock_timeout(patience()).await?.release().await
}

/// What the tool does.
async fn look(client: &Client, name: &str) -> Result<(), Error> {
    let mutex = client.mutex(name)?;
    let guard = mutex.lock_timeout(patience()).await?;
    let seen = mutex.inspect().await?;
    assert_eq!(seen.holders.len(), 1);
    mutex.force_release(&seen.holders[0].id).await?;
    // It is gone.
    let _ = guard.release().await;
    Ok(())
}
