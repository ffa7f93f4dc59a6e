//! Looks at locks, again and again, while nothing is wrong.

use std::time::Duration;

use dlock::{Client, LockInfo, RwLock};
use dlock_tests::now_ns;
use tokio::time::{Instant, sleep, timeout};

use super::site::Site;
use crate::plan::{PREFIX, lock_name};

const EVERY: Duration = Duration::from_millis(10);
const ANSWER: Duration = Duration::from_secs(5);

/// A lock at a moment between the two.
#[derive(Debug)]
pub(crate) struct Sample {
    pub(crate) lock: usize,
    pub(crate) asked: u64,
    pub(crate) answered: u64,
    pub(crate) info: LockInfo,
}

/// Whoever looks.
#[derive(Debug)]
pub(crate) struct Sampler {
    pub(crate) client: Client,
    pub(crate) locks: Vec<RwLock>,
}

impl Sampler {
    pub(crate) async fn new(site: &Site, locks: usize) -> Result<Self, dlock::Error> {
        let client = Client::builder()
            .url(site.url(None))
            .prefix(PREFIX)
            .name("observer");
        let client = client.build().await?;
        let locks = (0..locks).map(|lock| client.rw_lock(lock_name(lock)));
        let locks = locks.collect::<Result<_, _>>()?;
        Ok(Self { client, locks })
    }

    /// Looks for so long; what is not answered is left out.
    pub(crate) async fn look(&self, long: Duration) -> Vec<Sample> {
        let end = Instant::now() + long;
        let mut samples = Vec::new();
        while Instant::now() < end {
            for (number, lock) in self.locks.iter().enumerate() {
                let asked = now_ns();
                let info = timeout(ANSWER, lock.inspect()).await;
                samples.extend(info.ok().and_then(Result::ok).map(|info| Sample {
                    lock: number,
                    asked,
                    answered: now_ns(),
                    info,
                }));
            }
            sleep(EVERY).await;
        }
        samples
    }
}
