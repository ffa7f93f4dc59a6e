//! What other programs do to a mutex.

use std::time::Duration;

use super::Mutex;
use super::string::{Held, Value};
use crate::protocol::whole_millis;
use crate::store::memory::lock::state::after;

impl Mutex {
    /// What another program does: takes the mutex if it is free. Whether it has it now.
    pub(in crate::store::memory) fn take(
        &mut self,
        value: &str,
        lease: Option<Duration>,
        time: u64,
    ) -> bool {
        self.held = self.held.take().filter(|held| !held.is_over(time));
        let free = self.held.is_none();
        if free {
            let value = Value::read(value);
            let until = lease.map(|lease| after(time, whole_millis(lease)) / 1000);
            self.held = Some(Held { value, until });
        }
        free
    }

    /// What another program does: frees the mutex if it has it. Whether it had.
    pub(in crate::store::memory) fn free(&mut self, value: &str, time: u64) -> bool {
        let value = Value::read(value);
        let had = self.held.take_if(|held| held.value == value);
        had.is_some_and(|held| !held.is_over(time))
    }

    /// The holder: the value, and the rest of its time in milliseconds, if it ends.
    pub(in crate::store::memory) fn holder(&self, time: u64) -> Option<(String, Option<u64>)> {
        let held = self.held.as_ref().filter(|held| !held.is_over(time))?;
        let left = held.until.map(|until| until - time / 1000);
        Some((held.value.to_string(), left))
    }
}
