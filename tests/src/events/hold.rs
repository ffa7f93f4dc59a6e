//! Events made into intervals.

use std::{
    collections::{BTreeMap, HashMap},
    fmt,
};

use super::{Event, EventKind, Mode, Violation};

/// One hold, from its entry to its end.
#[derive(Clone, Debug)]
pub(crate) struct Hold {
    pub(crate) pid: u32,
    pub(crate) number: u64,
    pub(crate) mode: Mode,
    pub(crate) token: u64,
    pub(crate) enter: u64,
    pub(crate) end: End,
    paused: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// Not in the log.
    Open,
    /// Released.
    Exit(u64),
    /// Lost, or its process was killed.
    Broken(u64),
}

impl Hold {
    fn enter(event: &Event) -> Self {
        Self {
            pid: event.pid,
            number: event.hold,
            mode: event.mode,
            token: event.token,
            enter: event.at_ns,
            end: End::Open,
            paused: None,
        }
    }

    /// When it ended; never, if the log does not tell.
    pub(crate) fn end_ns(&self) -> u64 {
        match self.end {
            End::Open => u64::MAX,
            End::Exit(at) | End::Broken(at) => at,
        }
    }

    /// Applies an event about this hold; false if it cannot be.
    fn apply(&mut self, event: &Event) -> bool {
        match (event.kind, self.end) {
            (EventKind::Exit, End::Open) => self.end = End::Exit(event.at_ns),
            // A stopped process does nothing: what it lost meanwhile, it gave up when it was stopped.
            (EventKind::Lost, End::Open) => {
                self.end = End::Broken(self.paused.unwrap_or(event.at_ns));
            }
            (EventKind::Exit | EventKind::Lost, End::Broken(_)) => {}
            _ => return false,
        }
        event.mode == self.mode && event.token == self.token
    }
}

impl fmt::Display for Hold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            pid,
            number,
            mode,
            token,
            enter,
            end,
            ..
        } = self;
        write!(
            f,
            "{mode:?} #{number} of {pid}, token {token}, {enter} to {end:?}"
        )
    }
}

/// All holds by key, and the events that do not fit together.
pub(crate) fn holds(events: &[Event]) -> (BTreeMap<&str, Vec<Hold>>, Vec<Violation>) {
    let mut events: Vec<&Event> = events.iter().collect();
    events.sort_by_key(|event| event.at_ns);
    let mut holds: HashMap<(u32, u64), (&str, Hold)> = HashMap::new();
    let mut unpaired = Vec::new();
    for event in events {
        let id = (event.pid, event.hold);
        let fits = match event.kind {
            EventKind::Enter => holds.insert(id, (&event.key, Hold::enter(event))).is_none(),
            EventKind::Exit | EventKind::Lost => holds
                .get_mut(&id)
                .is_some_and(|(key, hold)| *key == event.key && hold.apply(event)),
            EventKind::Paused | EventKind::Killed => {
                let open = |hold: &&mut Hold| hold.pid == event.pid && hold.end == End::Open;
                for hold in holds.values_mut().map(|(_, hold)| hold).filter(open) {
                    if event.kind == EventKind::Killed {
                        hold.end = End::Broken(event.at_ns);
                    } else {
                        hold.paused = Some(event.at_ns);
                    }
                }
                true
            }
        };
        if !fits {
            unpaired.push(Violation::Unpaired {
                event: event.to_string(),
            });
        }
    }
    let mut by_key: BTreeMap<&str, Vec<Hold>> = BTreeMap::new();
    for (key, hold) in holds.into_values() {
        by_key.entry(key).or_default().push(hold);
    }
    (by_key, unpaired)
}
