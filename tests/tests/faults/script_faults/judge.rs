//! What must hold after every script, however it ended.

use dlock_tests::Fault;

use crate::script_faults::actor::{id, mode};
use crate::script_faults::faults::{LONGEST_MEMORY, has_no_choice};
use crate::script_faults::world::World;

impl World {
    /// No client that believes to hold the lock is wrong, and the record is in order.
    pub(crate) fn judge(&mut self, fault: Option<Fault<'_>>) -> Result<(), String> {
        let record = self.record()?;
        let now = self.now(&record);
        if let Some(conflict) = record.conflict(now) {
            return Err(format!("two hold: {conflict:?}"));
        }
        for (actor, until) in &self.believers {
            let hold = record.holds.get(&id(*actor).to_string());
            let holds =
                hold.is_some_and(|hold| hold.deadline >= *until && hold.mode == mode(*actor));
            if *until > now && !holds {
                return Err(format!("{} believes to hold until {until}", id(*actor)));
            }
        }
        let Some(kept) = self.kept else {
            self.for_ever |= !self.fields.is_empty() && has_no_choice(fault);
            return if self.fields.is_empty() || self.for_ever {
                Ok(())
            } else {
                Err("kept for ever".to_owned())
            };
        };
        let places = record
            .writers
            .places
            .values()
            .chain(record.readers.places.values());
        let ends = record.holds.values().map(|hold| hold.deadline);
        let latest = ends
            .chain(places.map(|place| place.deadline))
            .max()
            .unwrap_or(0);
        let latest = latest.saturating_sub(record.offset);
        // Of those who know of it: what was recorded before the fault may go with the key.
        let needed = self.believers.values().copied().max().unwrap_or(0);
        let needed = needed.saturating_sub(record.offset);
        if needed > self.time && kept < needed {
            return Err(format!("kept until {kept}, needed until {needed}"));
        }
        if kept > latest.max(self.time) + LONGEST_MEMORY {
            return Err(format!("kept until {kept}"));
        }
        Ok(())
    }
}
