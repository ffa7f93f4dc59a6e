//! Looks at locks, again and again, while nothing is wrong.

use std::time::Duration;

use dlock::{Client, Error, LockInfo, Mutex, RwLock};
use dlock_tests::now_ns;
use tokio::time::{Instant, sleep, timeout};

use super::site::Site;
use crate::plan::{PREFIX, Plan, lock_count, name_as};

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

/// The sampler.
#[derive(Debug)]
pub(crate) struct Sampler {
    pub(crate) client: Client,
    pub(crate) locks: Vec<Looked>,
}

/// The locks and the servers that it samples.
#[derive(Debug)]
pub(crate) enum Looked {
    Rw(RwLock),
    Mutex(Mutex),
}

impl Looked {
    pub(crate) async fn inspect(&self) -> Result<LockInfo, Error> {
        match self {
            Self::Rw(lock) => lock.inspect().await,
            Self::Mutex(lock) => lock.inspect().await,
        }
    }
}

impl Sampler {
    pub(crate) async fn new(site: &Site, plan: &Plan) -> Result<Self, Error> {
        Self::at(&site.urls(None), plan).await
    }

    /// A sampler of each server of a quorum; empty without a quorum.
    pub(crate) async fn of_members(site: &Site, plan: &Plan) -> Result<Vec<Self>, Error> {
        let mut all = Vec::new();
        let urls = site.urls(None);
        if urls.len() > 1 {
            for url in urls {
                all.push(Self::at(&[url], plan).await?);
            }
        }
        Ok(all)
    }

    async fn at(urls: &[String], plan: &Plan) -> Result<Self, Error> {
        let builder = match urls {
            [only] => Client::builder().url(only),
            members => Client::builder().quorum(members),
        };
        let client = builder
            .prefix(PREFIX)
            .client_name("observer")
            .build()
            .await?;
        let look_at = |lock: usize| {
            Ok::<_, Error>(if plan.mutexes.has(lock) {
                Looked::Mutex(client.mutex(name_as(dlock::LockKind::Mutex, lock))?)
            } else {
                Looked::Rw(client.rw_lock(name_as(dlock::LockKind::Rw, lock))?)
            })
        };
        let locks = (0..lock_count(plan))
            .map(look_at)
            .collect::<Result<_, _>>()?;
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
