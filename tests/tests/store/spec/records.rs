//! What both have recorded.

use dlock::__internals::{Message, Op, Post, Reply, ServerClock as _};
use dlock_tests::{Held, Moments};

use crate::spec::compare::{same, says_the_same};
use crate::spec::pair::Pair;
use crate::spec::plan::Family;

/// How long after it became free a lock may be remembered, in microseconds: a minute, and what saves expiries.
const LONGEST_MEMORY: u64 = 71_001_000;

impl Pair<'_> {
    pub(crate) fn compare_records(&self) -> Result<(), String> {
        let time = self.clock.micros();
        let (now, promised) = self.specification.times(&self.key);
        let deaf = &mut |_: &Message| false;
        let inspected = self
            .specification
            .decide(&self.key, &Op::Inspect, 0, &mut Post::new(deaf));
        let Reply::Info(mut info) = inspected else {
            return Err(format!("inspect answers {inspected:?}"));
        };
        if self.of == Family::Mutex {
            self.compare_strings()?;
            info.holders.clear();
        }
        let record = &self.record;
        let recorded = |why| format!("but the script leaves {record:?}: {why}");
        says_the_same(record, &info, now).map_err(recorded)?;
        same("the lock's time", &record.now(time), &now).map_err(recorded)?;
        let kept = self.kept.unwrap_or(0);
        // For how long a free mutex is remembered is read from its hash's expiry, which is in milliseconds.
        let rounded = if self.of == Family::Mutex { 1_000 } else { 0 };
        if promised > time && kept + rounded < promised {
            return Err(recorded(format!("kept until {kept}, not until {promised}")));
        }
        let tomb = record.buried.values().copied().max().unwrap_or(0);
        // A token from another server is remembered until the clock has come to it.
        let needed = tomb.max(self.latest_time).max(record.last);
        // A client that frees a mutex without its hash leaves the hash as it is.
        let is_held = !record.holds.is_empty() || self.held.is_some() || self.noted_held;
        if !is_held && self.waiting() == 0 && kept > needed + LONGEST_MEMORY {
            return Err(recorded(format!(
                "a free lock is kept until {kept}, at {time}"
            )));
        }
        Ok(())
    }

    /// Whether a mutex has the holder that it should, and is left free when it should be.
    pub(crate) fn compare_strings(&self) -> Result<(), String> {
        let time = self.clock.micros();
        let holder = self.specification.holder(&self.key);
        let specified = holder.map(|(value, left)| Held {
            value,
            // A mark may stay when the last waiter has left.
            marked: self.held.as_ref().is_some_and(|held| held.marked),
            until: left.map(|left| time / 1000 + left),
        });
        same("the string", &self.held, &specified)?;
        let [until, since, seen] = self.specification.moments(&self.key);
        let specified = Moments { until, since, seen };
        same("the free moments", &self.moments, &specified)
    }

    fn waiting(&self) -> usize {
        self.record.writers.places.len() + self.record.readers.places.len()
    }
}
