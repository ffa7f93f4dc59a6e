//! `dlock inspect`.

use dlock::LockInfo;

use crate::args::Common;
use crate::connect::connect;
use crate::duration::short;
use crate::exit::{Exit, Failure};
use crate::{json, table};

pub(crate) async fn inspect(common: &Common, key: &str) -> Result<Exit, Failure> {
    let client = connect(common).await?;
    let info = client.rw_lock(key)?.inspect().await?;
    if common.json {
        println!("{}", json::lock(key, &info));
    } else {
        print!("{}", text(key, &info));
    }
    Ok(Exit::DONE)
}

/// A lock in words.
pub(crate) fn text(key: &str, info: &LockInfo) -> String {
    let token = match info.last_token {
        Some(token) => format!("last token {token}"),
        None => "no token remembered".to_owned(),
    };
    let state = info.mode().map_or("free", |mode| match mode {
        dlock::Mode::Read => "held for reading",
        dlock::Mode::Write => "held for writing",
    });
    let mut text = format!("{key}: {state}, {token}\n");
    if !info.holders.is_empty() {
        let mut lines = vec![table::line([
            "HOLD",
            "MODE",
            "LEASE LEFT",
            "TOKEN",
            "OWNER",
        ])];
        for hold in &info.holders {
            lines.push(vec![
                hold.id.clone(),
                hold.mode.to_string(),
                short(hold.remaining),
                hold.token.to_string(),
                hold.owner.clone().unwrap_or_default(),
            ]);
        }
        text.push('\n');
        text.push_str(&table::render(&lines));
        text.push_str(&more(info.more_holders));
    }
    if !info.waiters.is_empty() {
        let mut lines = vec![table::line(["WAITER", "MODE"])];
        for waiter in &info.waiters {
            lines.push(vec![waiter.id.clone(), waiter.mode.to_string()]);
        }
        text.push('\n');
        text.push_str(&table::render(&lines));
        text.push_str(&more(info.more_waiters));
    }
    text
}

/// Says how many are not listed.
fn more(count: u64) -> String {
    match count {
        0 => String::new(),
        count => format!("and {count} more\n"),
    }
}
