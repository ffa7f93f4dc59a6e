//! `dlock list`.

use dlock::{Client, Error, LockInfo, LockKind};
use tokio::task::JoinSet;

use crate::args::Common;
use crate::connect::connect;
use crate::exit::{Exit, Failure};
use crate::hidden::plain;
use crate::lock::Lock;
use crate::{json, output, table, who};

/// How many locks are asked about at the same time.
const AT_ONCE: usize = 256;

/// A lock that is held or waited for.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub(crate) name: String,
    pub(crate) kind: LockKind,
    pub(crate) info: LockInfo,
}

impl Found {
    /// The lock, whatever has become of it.
    pub(crate) fn lock(&self, client: &Client) -> Result<Lock, Error> {
        Lock::new(client, self.kind, &self.name)
    }

    pub(crate) fn is_same(&self, other: &Self) -> bool {
        (&self.name, self.kind) == (&other.name, other.kind)
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        json::lock(&self.name, self.kind, &self.info)
    }
}

pub(crate) async fn list(common: &Common, pattern: &str) -> Result<Exit, Failure> {
    let client = connect(common).await?;
    let locks = in_use(&client, pattern).await?;
    if common.json {
        let locks = locks.iter().map(Found::json);
        output::print_json(&serde_json::Value::Array(locks.collect()))?;
    } else {
        output::print(&text(&locks))?;
    }
    Ok(Exit::DONE)
}

/// The locks that are held or waited for, by name.
pub(crate) async fn in_use(client: &Client, pattern: &str) -> Result<Vec<Found>, Error> {
    let (locks, mutexes) = tokio::try_join!(client.list(pattern), client.list_mutexes(pattern))?;
    let locks = locks.into_iter().map(|name| (name, LockKind::Rw));
    let mutexes = mutexes.into_iter().map(|name| (name, LockKind::Mutex));
    let named: Vec<_> = locks.chain(mutexes).collect();
    let mut found = Vec::with_capacity(named.len());
    for named in named.chunks(AT_ONCE) {
        let mut asked = JoinSet::new();
        for (name, kind) in named.iter().cloned() {
            let lock = Lock::new(client, kind, &name)?;
            asked.spawn(async move {
                let info = lock.inspect().await?;
                Ok::<_, Error>(Found { name, kind, info })
            });
        }
        for lock in asked.join_all().await {
            let lock = lock?;
            if !lock.info.holders.is_empty() || !lock.info.waiters.is_empty() {
                found.push(lock);
            }
        }
    }
    found.sort_unstable_by(|a, b| (&a.name, a.kind.as_str()).cmp(&(&b.name, b.kind.as_str())));
    Ok(found)
}

/// The locks as a table.
pub(crate) fn text<'f>(locks: impl IntoIterator<Item = &'f Found>) -> String {
    let mut lines = vec![table::line([
        "LOCK",
        "KIND",
        "MODE",
        "HELD FOR",
        "LEASE LEFT",
        "WAITING",
        "LONGEST WAIT",
        "HELD BY",
    ])];
    for Found { name, kind, info } in locks {
        lines.push(vec![
            plain(name).into_owned(),
            who::kind(*kind).to_owned(),
            info.mode()
                .map_or_else(|| "free".into(), |mode| mode.to_string()),
            who::held_for(info),
            who::lease_left(info),
            info.waiter_count().to_string(),
            who::longest_wait(info),
            who::held_by(info),
        ]);
    }
    if lines.len() == 1 {
        return "no lock is held or waited for\n".to_owned();
    }
    table::render(&lines)
}
