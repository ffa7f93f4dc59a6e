//! `dlock inspect`.

use std::io::{self, IsTerminal};

use dlock::{Client, ErrorKind, LockInfo, LockKind};
use ratatui::crossterm::cursor::MoveTo;
use ratatui::crossterm::queue;
use ratatui::crossterm::style::Print;
use ratatui::crossterm::terminal::{self, Clear, ClearType};
use tokio::time::{MissedTickBehavior, interval};

use crate::args::{Common, Inspect};
use crate::connect::connect;
use crate::duration::short;
use crate::exit::{Exit, Failure};
use crate::hidden::plain;
use crate::lock::{self, Lock};
use crate::{json, output, table, who};

pub(crate) async fn inspect(common: &Common, args: &Inspect) -> Result<Exit, Failure> {
    let client = connect(common).await?;
    let locks = Locks::new(&client, args)?;
    if args.watch {
        watch(common, args, &locks).await?;
    } else {
        show(common, args, &locks.inspect().await?, false)?;
    }
    Ok(Exit::DONE)
}

/// The lock, and the mutex of that name unless the lock is one: the name does not tell which of them a program uses.
struct Locks {
    lock: Lock,
    mutex: Option<Lock>,
}

/// What one look has found.
struct Look {
    lock: LockInfo,
    /// Only if it is in use.
    mutex: Option<LockInfo>,
}

impl Locks {
    fn new(client: &Client, args: &Inspect) -> Result<Self, Failure> {
        let lock = Lock::new(client, lock::kind(args.mutex, false), &args.key)?;
        // Not every name of a lock is one of a mutex.
        let mutex = Lock::new(client, LockKind::Mutex, &args.key).ok();
        let mutex = mutex.filter(|_| !args.mutex);
        Ok(Self { lock, mutex })
    }

    async fn inspect(&self) -> Result<Look, Failure> {
        let lock = self.lock.inspect().await?;
        let mutex = match &self.mutex {
            Some(mutex) => mutex.inspect().await.map(Some),
            None => Ok(None),
        };
        let mutex = match mutex {
            // The key of that name is something else, or none of this user's business.
            Err(error) if error.is_unauthorized() || error.kind() == ErrorKind::ForeignKey => None,
            mutex => mutex?,
        };
        let is_used = |info: &LockInfo| info.mode().is_some() || !info.waiters.is_empty();
        let mutex = mutex.filter(is_used);
        Ok(Look { lock, mutex })
    }
}

/// Looks again and again, until the user ends it.
async fn watch(common: &Common, args: &Inspect, locks: &Locks) -> Result<(), Failure> {
    let mut ticks = interval(args.interval.max(std::time::Duration::from_millis(10)));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let draws = !common.json && io::stdout().is_terminal();
    if draws {
        output::print(&drawn(|out| queue!(out, Clear(ClearType::All)))?)?;
    }
    let mut shown = 0;
    while args.count.is_none_or(|count| shown < count) {
        ticks.tick().await;
        show(common, args, &locks.inspect().await?, draws)?;
        shown += 1;
    }
    Ok(())
}

fn show(common: &Common, args: &Inspect, found: &Look, draws: bool) -> io::Result<()> {
    if common.json {
        let mut lock = json::lock(&args.key, lock::kind(args.mutex, false), &found.lock);
        if let Some(mutex) = &found.mutex {
            lock["mutex"] = json::lock(&args.key, LockKind::Mutex, mutex);
        }
        return output::print_json(&lock);
    }
    let name = plain(&args.key);
    let text = match &found.mutex {
        None => text(&name, args.mutex, &found.lock),
        Some(mutex) => {
            let lock = text(&format!("{name} (read/write lock)"), false, &found.lock);
            lock + "\n" + &text(&format!("{name} (mutex)"), true, mutex)
        }
    };
    if !draws {
        return output::print(&text);
    }
    let (columns, rows) = terminal::size().unwrap_or((80, 24));
    let picture = drawn(|out| {
        queue!(out, MoveTo(0, 0))?;
        for line in text.lines().take(usize::from(rows).saturating_sub(1)) {
            let line: String = line.chars().take(columns.into()).collect();
            queue!(
                out,
                Clear(ClearType::CurrentLine),
                Print(line),
                Print("\r\n")
            )?;
        }
        queue!(out, Clear(ClearType::FromCursorDown))
    })?;
    output::print(&picture)
}

/// The text that `draw` writes to a terminal.
fn drawn(draw: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> io::Result<String> {
    let mut out = Vec::new();
    draw(&mut out)?;
    String::from_utf8(out).map_err(io::Error::other)
}

/// A lock in words.
fn text(name: &str, is_mutex: bool, info: &LockInfo) -> String {
    let token = match info.last_token {
        Some(token) => format!("last token {token}"),
        None if is_mutex => "no tokens".to_owned(),
        None => "no token remembered".to_owned(),
    };
    let state = who::state(info, is_mutex);
    let mut text = format!("{name}: {state}, {token}\n");
    if !info.holders.is_empty() {
        let heading = ["HELD BY", "MODE", "HELD FOR", "LEASE LEFT", "TOKEN", "HOLD"];
        let mut lines = vec![table::line(heading)];
        for hold in &info.holders {
            lines.push(vec![
                who::holder(hold),
                who::mode(hold),
                who::time(hold.held_for),
                short(hold.remaining),
                who::token(hold),
                plain(&hold.id).into_owned(),
            ]);
        }
        text.push('\n');
        text.push_str(&table::render(&lines));
        text.push_str(&more(info.more_holders));
    }
    if !info.waiters.is_empty() {
        let heading = ["WAITER", "MODE", "WAITING FOR", "PLACE KEPT", "ID"];
        let mut lines = vec![table::line(heading)];
        for waiter in &info.waiters {
            lines.push(vec![
                who::name(&waiter.id),
                waiter.mode.to_string(),
                short(waiter.waiting_for),
                short(waiter.remaining),
                plain(&waiter.id).into_owned(),
            ]);
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
