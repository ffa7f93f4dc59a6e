//! `rslock`: a mutex by `SET NX`, polling, without renewal.

use std::time::Duration;

use dlock_load::Patience;
use rslock::{LockError, LockManager};
use tokio::time::timeout;

use super::{Guard, Why};

/// Its own default is 200 ms, which leaves hot locks idle most of the time.
const RETRY: Duration = Duration::from_millis(4);
/// It waits for servers for as long as they take.
const ANSWER: Duration = Duration::from_secs(2);

/// A client.
#[derive(Clone)]
pub(crate) struct Rslock {
    manager: LockManager,
    lease: Duration,
}

/// The URLs of the servers in a URL of several.
pub(crate) fn seeds(url: &str) -> Vec<String> {
    let (scheme, rest) = url.split_once("://").expect("URLs have a scheme");
    let (login, hosts) = rest.split_once('@').unwrap_or(("", rest));
    let at = if login.is_empty() { "" } else { "@" };
    let seed = |host| format!("{scheme}://{login}{at}{host}");
    hosts.split(',').map(seed).collect()
}

impl Rslock {
    pub(crate) fn new(url: &str, lease: Duration) -> Self {
        let seeds = seeds(url);
        let mut manager = if seeds.len() > 1 {
            LockManager::new_cluster(seeds).expect("valid URLs")
        } else {
            LockManager::new(seeds)
        };
        manager.set_retry(1, RETRY);
        Self { manager, lease }
    }

    /// Tries again and again.
    pub(crate) async fn ask(&self, key: &str, patience: Patience) -> Result<Option<Guard>, Why> {
        let long = match patience {
            Patience::Try => return self.try_once(key).await,
            Patience::For(long) => Duration::from_nanos(long),
            Patience::Forever => Duration::MAX,
        };
        let asking = async {
            loop {
                if let Ok(Some(guard)) = self.try_once(key).await {
                    return guard;
                }
                tokio::time::sleep(RETRY.mul_f64(fastrand::f64())).await;
            }
        };
        let got = timeout(long, asking).await;
        got.map(Some).map_err(|_| "Timeout(Wait)".to_owned())
    }

    async fn try_once(&self, key: &str) -> Result<Option<Guard>, Why> {
        let asked = timeout(ANSWER, self.manager.lock(key, self.lease)).await;
        match asked {
            Ok(Ok(lock)) => Ok(Some(Guard::Rslock(rslock::LockGuard { lock }))),
            Ok(Err(LockError::Unavailable)) => Ok(None),
            Ok(Err(error)) => Err(error.to_string().replace(' ', "-")),
            Err(_) => Err("Timeout(Request)".to_owned()),
        }
    }
}
