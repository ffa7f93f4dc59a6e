//! What must hold after every script of a mutex, however it ended.

use dlock_tests::Fault;

use crate::mutex_faults::act::{LEASE, id, kind};
use crate::mutex_faults::world::World;
use crate::script_faults::faults::{LONGEST_MEMORY, has_no_choice};

impl World {
    /// No client that believes to hold the mutex is wrong, no client has touched another program's hold, and the record
    /// is in order.
    pub(crate) fn judge(&mut self, fault: Option<Fault<'_>>) -> Result<(), String> {
        let record = self.record()?;
        let millis = self.time / 1000;
        if let Some(foreign) = self.foreign.as_ref().filter(|held| held.is_live(self.time))
            && self.held.as_ref() != Some(foreign)
        {
            return Err(format!("{foreign:?} has become {:?}", self.held));
        }
        for (actor, until) in &self.believers {
            let name = id(*actor).to_string();
            let mut held = self.held.iter().filter(|held| held.value == name);
            let holds = held.any(|held| held.until.is_some_and(|ends| ends >= *until));
            if *until > millis && !holds {
                return Err(format!("{name} believes to hold until {until}"));
            }
        }
        if let Some(held) = &self.held
            && held.until.is_none_or(|until| until > millis + LEASE)
        {
            return Err(format!("{held:?} stays for too long"));
        }
        let Some(kept) = self.kept else {
            self.for_ever |= !self.fields.is_empty() && has_no_choice(fault);
            return if self.fields.is_empty() || self.for_ever {
                Ok(())
            } else {
                Err("kept for ever".to_owned())
            };
        };
        let fenced = self
            .believers
            .iter()
            .filter(|(actor, _)| kind(**actor).has_tokens());
        let needed = fenced.map(|(_, until)| 1000 * until).max().unwrap_or(0);
        if needed > self.time && kept < needed {
            return Err(format!("kept until {kept}, needed until {needed}"));
        }
        let places = record.beside.writers.places.values();
        let latest = places.map(|place| place.deadline).max().unwrap_or(0);
        let held = self.held.as_ref().and_then(|held| held.until).unwrap_or(0);
        if kept > latest.max(self.time).max(1000 * held) + LONGEST_MEMORY + 1000 * LEASE {
            return Err(format!("kept until {kept}"));
        }
        Ok(())
    }
}
