//! The locks that `dlock top` shows, and their order.

use dlock::{Error, LockMode};
use serde_json::{Value, json};

use crate::list::Found;

/// Everything that was found at one time.
#[derive(Debug, Clone, Default)]
pub(super) struct Picture {
    pub(super) rows: Vec<Row>,
    /// How often all servers were asked so far.
    pub(super) scans: u64,
    pub(super) load: Option<Load>,
    /// What keeps the picture from being up to date.
    pub(super) trouble: Option<Error>,
}

/// How busy the servers are.
#[derive(Debug, Clone, Copy)]
pub(super) struct Load {
    pub(super) servers: usize,
    /// Scripts in a second.
    pub(super) rate: f64,
    /// What one takes, in microseconds.
    pub(super) micros: f64,
}

/// One lock.
#[derive(Debug, Clone)]
pub(super) struct Row {
    pub(super) lock: Found,
    /// Changes of hands in a second, as far as they were seen.
    pub(super) rate: f64,
}

impl Row {
    pub(super) fn mode(&self) -> &'static str {
        self.lock.info.mode().map_or("free", LockMode::as_str)
    }

    /// What differs from one grant to the next: the token, or of a mutex the hold.
    pub(super) fn mark(&self) -> Option<String> {
        let info = &self.lock.info;
        let token = info.last_token.map(|token| token.to_string());
        token.or_else(|| info.holders.first().map(|hold| hold.id.clone()))
    }
}

impl Picture {
    /// How many locks are held, contended, and how many wait.
    pub(super) fn totals(&self) -> (usize, usize, u64) {
        let locks = || self.rows.iter().map(|row| &row.lock.info);
        let held = locks().filter(|info| !info.holders.is_empty());
        let contended = locks().filter(|info| !info.waiters.is_empty());
        let waiting = locks().map(dlock::LockInfo::waiter_count).sum::<u64>();
        (held.count(), contended.count(), waiting)
    }

    pub(super) fn to_json(&self) -> Value {
        let locks = self.rows.iter().map(|row| {
            let mut lock = row.lock.json();
            lock["changes_per_second"] = json!(row.rate);
            lock
        });
        let (held, contended, waiting) = self.totals();
        json!({
            "held": held,
            "contended": contended,
            "waiting": waiting,
            "scripts_per_second": self.load.map(|load| load.rate),
            "script_micros": self.load.map(|load| load.micros),
            "locks": locks.collect::<Vec<_>>(),
        })
    }
}
