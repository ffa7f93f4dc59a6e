//! `dlock list`.

use dlock::__internals::plain;
use dlock::{Client, Error, LockInfo};
use tokio::task::JoinSet;

use crate::args::Common;
use crate::connect::connect;
use crate::exit::{Exit, Failure};
use crate::{json, output, table, who};

/// How many locks are asked about at the same time.
const AT_ONCE: usize = 256;

pub(crate) async fn list(common: &Common, pattern: &str) -> Result<Exit, Failure> {
    let client = connect(common).await?;
    let locks = in_use(&client, pattern).await?;
    if common.json {
        let locks = locks.iter().map(|(key, info)| json::lock(key, info));
        output::print_json(&serde_json::Value::Array(locks.collect()))?;
    } else {
        output::print(&text(&locks))?;
    }
    Ok(Exit::DONE)
}

/// The locks that are held or waited for, by name.
pub(crate) async fn in_use(
    client: &Client,
    pattern: &str,
) -> Result<Vec<(String, LockInfo)>, Error> {
    let names = client.list(pattern).await?;
    let mut locks = Vec::with_capacity(names.len());
    for names in names.chunks(AT_ONCE) {
        let mut asked = JoinSet::new();
        for name in names {
            let lock = client.rw_lock(name)?;
            asked.spawn(async move { (lock.key().name().to_owned(), lock.inspect().await) });
        }
        for (name, info) in asked.join_all().await {
            let info = info?;
            if !info.holders.is_empty() || !info.waiters.is_empty() {
                locks.push((name, info));
            }
        }
    }
    locks.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
    Ok(locks)
}

/// The locks as a table.
pub(crate) fn text(locks: &[(String, LockInfo)]) -> String {
    if locks.is_empty() {
        return "no lock is held or waited for\n".to_owned();
    }
    let mut lines = vec![table::line([
        "LOCK",
        "MODE",
        "HELD FOR",
        "LEASE LEFT",
        "WAITING",
        "LONGEST WAIT",
        "HELD BY",
    ])];
    for (key, info) in locks {
        lines.push(vec![
            plain(key).into_owned(),
            info.mode()
                .map_or_else(|| "free".into(), |mode| mode.to_string()),
            who::held_for(info),
            who::lease_left(info),
            info.waiter_count().to_string(),
            who::longest_wait(info),
            who::held_by(info),
        ]);
    }
    table::render(&lines)
}
