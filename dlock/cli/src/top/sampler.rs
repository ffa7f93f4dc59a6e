//! Looking at the locks again and again.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use dlock::{Client, Error, LockKind};
use tokio::sync::watch;
use tokio::time::{Instant, MissedTickBehavior, interval};

use super::model::{Load, Picture, Row};
use super::rates::Changes;
use crate::hidden::ScriptLoad;
use crate::list::{self, Found};

/// How many looks at the busiest locks there are between two walks over all keys.
const LOOKS: u32 = 10;
/// How many locks those are.
const BUSIEST: usize = 24;

/// What tells locks apart.
fn key_of(lock: &Found) -> (String, LockKind) {
    (lock.name.clone(), lock.kind)
}

/// Finds out what there is to show.
pub(super) struct Sampler {
    client: Client,
    pattern: String,
    interval: Duration,
    changes: HashMap<(String, LockKind), Changes>,
    load: Option<(Instant, ScriptLoad)>,
    /// Questions of our own since then, which are scripts too.
    asked: u64,
}

impl Sampler {
    pub(super) fn new(client: Client, pattern: String, interval: Duration) -> Self {
        Self {
            client,
            pattern,
            interval,
            changes: HashMap::new(),
            load: None,
            asked: 0,
        }
    }

    /// Goes on until the screen is closed.
    pub(super) async fn run(mut self, pictures: watch::Sender<Picture>) {
        let mut ticks = interval(self.interval / LOOKS);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        for look in (0..LOOKS).cycle() {
            ticks.tick().await;
            if pictures.is_closed() {
                return;
            }
            let mut picture = pictures.borrow().clone();
            let done = if look == 0 {
                picture.scans += 1;
                self.walk(&mut picture).await
            } else {
                self.look(&mut picture).await
            };
            picture.trouble = done.err();
            pictures.send_replace(picture);
        }
    }

    /// Looks at everything: what is in use, and what was a moment ago.
    async fn walk(&mut self, picture: &mut Picture) -> Result<(), Error> {
        let locks = list::in_use(&self.client, &self.pattern).await?;
        self.asked += locks.len() as u64;
        let found: HashSet<_> = locks.iter().map(key_of).collect();
        // A busy lock is free in between: it would come and go.
        picture
            .rows
            .retain(|row| row.rate > 0.0 && !found.contains(&key_of(&row.lock)));
        for row in &mut picture.rows {
            row.lock.info = row.lock.lock(&self.client)?.inspect().await?;
            self.asked += 1;
        }
        picture
            .rows
            .extend(locks.into_iter().map(|lock| Row { lock, rate: 0.0 }));
        let shown: HashSet<_> = picture.rows.iter().map(|row| key_of(&row.lock)).collect();
        self.changes.retain(|key, _| shown.contains(key));
        picture
            .rows
            .sort_by_key(|row| std::cmp::Reverse(row.lock.info.waiter_count()));
        self.note(&mut picture.rows);
        // Without the right to INFO the rest is still worth showing.
        if let Ok(load) = self.client.script_load().await {
            picture.load = self.compare(load);
        }
        Ok(())
    }

    /// Looks at the busiest locks, to see changes of hands between two walks.
    async fn look(&mut self, picture: &mut Picture) -> Result<(), Error> {
        for row in picture.rows.iter_mut().take(BUSIEST) {
            row.lock.info = row.lock.lock(&self.client)?.inspect().await?;
            self.asked += 1;
        }
        self.note(&mut picture.rows);
        Ok(())
    }

    fn note(&mut self, rows: &mut [Row]) {
        let now = Instant::now();
        for row in rows {
            let mark = row.mark();
            let changes = self
                .changes
                .entry(key_of(&row.lock))
                .or_insert_with(|| Changes::new(mark.clone(), now));
            changes.see(mark, now);
            row.rate = changes.rate(now);
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "for display")]
    fn compare(&mut self, load: ScriptLoad) -> Option<Load> {
        let now = Instant::now();
        let asked = std::mem::take(&mut self.asked);
        let (then, before) = self.load.replace((now, load))?;
        // A server that restarted begins at zero.
        let calls = load.calls.checked_sub(before.calls)?;
        let micros = load.micros.checked_sub(before.micros)?;
        Some(Load {
            servers: load.servers,
            rate: calls.saturating_sub(asked) as f64 / (now - then).as_secs_f64().max(0.001),
            micros: micros as f64 / calls.max(1) as f64,
        })
    }
}
