//! What must not be left behind when all clients are shut down: subscriptions, holds and places beyond their time, and keys that
//! never expire, or later than they should.

use std::time::{Duration, Instant};

use dlock_tests::{RedisServer, scaled};
use redis::{FromRedisValue, Value};
use tokio::time::{sleep, timeout};

use super::Verdict;
use crate::{
    driver::{Facts, Sampler, Site},
    plan::PREFIX,
};

/// How long servers take to notice that a connection is gone, and more.
const NOTICE: Duration = Duration::from_secs(10);
/// For how long the longest places and notes count.
const PLACES: Duration = Duration::from_secs(4);
/// A free lock is forgotten after a minute, and a bit: eleven seconds if a late request was noted before it was held last,
/// which is nearly always so at members of a quorum.
const FORGOTTEN_MS: i64 = 72_000;

/// Looks until nothing is left, or it should not be.
pub(crate) async fn leftovers(
    site: &Site,
    samplers: &[&Sampler],
    lease: Duration,
    facts: &Facts,
    verdict: &mut Verdict,
) {
    let listened = settles(NOTICE, async || channels(site).await).await;
    if let Some(story) = listened {
        verdict.object("leftovers", story);
    }
    for sampler in samplers {
        let held = settles(lease + PLACES + NOTICE, async || held(sampler).await).await;
        if let Some(story) = held {
            verdict.object("leftovers", story);
        }
    }
    for shard in 0..site.shards() {
        match site.master_of(shard).await {
            Some(master) => {
                for story in keys(site.node(master)).await {
                    verdict.object("leftovers", story);
                }
            }
            None => facts.trouble(format_args!("shard {shard} has no master in the end")),
        }
    }
}

/// The keys, holds and channels that are still left when the time is up.
async fn settles(long: Duration, look: impl AsyncFn() -> Option<String>) -> Option<String> {
    let begun = Instant::now();
    loop {
        let left = look().await?;
        if begun.elapsed() > scaled(long) {
            return Some(left);
        }
        sleep(Duration::from_millis(50)).await;
    }
}

async fn ask<T: FromRedisValue>(server: &RedisServer, command: &[&str]) -> Option<T> {
    let answer: Value = server.command(command).await.ok()?;
    redis::from_redis_value(answer).ok()
}

/// A channel that still has subscribers.
async fn channels(site: &Site) -> Option<String> {
    for number in 0..site.len() {
        for kind in ["CHANNELS", "SHARDCHANNELS"] {
            // Old servers have no sharded ones.
            let channels = ask::<Vec<String>>(site.node(number), &["PUBSUB", kind]).await;
            let mut own = channels.unwrap_or_default().into_iter();
            if let Some(channel) = own.find(|channel| channel.starts_with(PREFIX)) {
                return Some(format!("server {number} still sends to {channel}"));
            }
        }
    }
    None
}

/// A lock that still has holders or waiters.
async fn held(sampler: &Sampler) -> Option<String> {
    for (number, lock) in sampler.locks.iter().enumerate() {
        let info = match timeout(NOTICE, lock.inspect()).await {
            Ok(Ok(info)) => info,
            Ok(Err(error)) => return Some(format!("lock {number} cannot be looked at: {error}")),
            Err(_) => return Some(format!("lock {number} cannot be looked at")),
        };
        if info.holder_count() + info.waiter_count() > 0 {
            return Some(format!("lock {number} is not free: {info:?}"));
        }
    }
    None
}

/// The objections to keys that a server still has.
async fn keys(server: &RedisServer) -> Vec<String> {
    let keys = ask::<Vec<String>>(server, &["KEYS", "*"])
        .await
        .unwrap_or_default();
    let mut wrong = Vec::new();
    for key in keys {
        match ask::<i64>(server, &["PTTL", &key]).await {
            Some(-1) => wrong.push(format!("{key} never expires")),
            Some(left) if left > FORGOTTEN_MS => wrong.push(format!("{key} expires in {left} ms")),
            _ => {}
        }
    }
    wrong
}
