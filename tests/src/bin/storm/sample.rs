//! What servers have done so far.

use std::time::{Duration, Instant};

use dlock_tests::CommandStats;

use super::site::Site;

/// The counters of all servers together.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    at: Instant,
    stats: CommandStats,
}

/// What was done between two samples, a second.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rate {
    pub(crate) scripts: f64,
    /// The part of the time that servers spent in scripts.
    pub(crate) busy: f64,
}

impl Sample {
    /// `None` if a server does not answer.
    pub(crate) async fn take(site: &Site) -> Option<Self> {
        let mut sample = Self {
            at: Instant::now(),
            stats: CommandStats::default(),
        };
        for server in site.servers() {
            let info = server.info("commandstats").await.ok()?;
            sample.stats.add(&info);
        }
        Some(sample)
    }

    pub(crate) fn since(&self, earlier: &Self) -> Rate {
        let seconds = (self.at - earlier.at).as_secs_f64();
        let more = self.stats.since(&earlier.stats);
        let per_second = |more: u64| f64::from(u32::try_from(more).unwrap_or(u32::MAX)) / seconds;
        Rate {
            scripts: per_second(more.scripts()),
            busy: per_second(more.script_micros()) / 1e6,
        }
    }
}

/// The rate over so long.
pub(crate) async fn rate_over(site: &Site, span: Duration) -> Option<Rate> {
    let before = Sample::take(site).await?;
    tokio::time::sleep(span).await;
    let after = Sample::take(site).await?;
    Some(after.since(&before))
}

/// How many channels are subscribed, at all servers together.
pub(crate) async fn channels(site: &Site) -> usize {
    let mut count = 0;
    for server in site.servers() {
        for kind in ["CHANNELS", "SHARDCHANNELS"] {
            let answer = server.command(&["PUBSUB", kind]).await;
            if let Ok(redis::Value::Array(channels)) = answer {
                count += channels.len();
            }
        }
    }
    count
}
