//! What servers have done so far.

use std::time::{Duration, Instant};

use super::site::Site;

/// The counters of all servers together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    at: Instant,
    pub(crate) scripts: u64,
    /// Time that scripts took.
    micros: u64,
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
            scripts: 0,
            micros: 0,
        };
        for server in site.servers() {
            let info = server.info("commandstats").await.ok()?;
            for line in info.lines().filter(|line| line.starts_with("cmdstat_eval")) {
                sample.scripts += field(line, "calls=");
                sample.micros += field(line, "usec=");
            }
        }
        Some(sample)
    }

    pub(crate) fn since(&self, earlier: &Self) -> Rate {
        let seconds = (self.at - earlier.at).as_secs_f64();
        // A server that was started again counts from zero.
        let per_second = |now: u64, then: u64| {
            let more = u32::try_from(now.saturating_sub(then)).unwrap_or(u32::MAX);
            f64::from(more) / seconds
        };
        Rate {
            scripts: per_second(self.scripts, earlier.scripts),
            busy: per_second(self.micros, earlier.micros) / 1e6,
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

fn field(line: &str, name: &str) -> u64 {
    let rest = line.split_once(name).map_or("", |(_, rest)| rest);
    let number = rest.split(',').next().unwrap_or_default();
    number.parse().unwrap_or(0)
}
