//! Whether the fields of a lock's hash agree with each other.

use std::collections::BTreeMap;

use dlock::__internals::HoldId;
use dlock::LockMode;

use super::record::{Line, Record, RecordedHold};

/// How long a place is kept after its end, in microseconds.
const KEPT: u64 = 10_000_000;

/// What a hash says twice, for quick access.
#[derive(Debug, Default)]
pub(super) struct Index {
    /// How many fields there are.
    pub(super) fields: usize,
    /// Reads, writes, the earliest end.
    pub(super) holds: Option<[u64; 3]>,
    /// Whether some of them may linger, by the count.
    pub(super) lingers: bool,
    /// The ids of the holds by number.
    pub(super) ids: BTreeMap<u64, String>,
    /// Reads and writes by owner.
    pub(super) owners: BTreeMap<String, [u64; 2]>,
    pub(super) reviewed: Option<[u64; 2]>,
    /// The fields of places by id.
    pub(super) places: BTreeMap<String, String>,
    /// The only hold, and how long after its token a time was noted.
    pub(super) sole: Vec<(String, (RecordedHold, u64))>,
    /// The number that is added to all deadlines of holds.
    pub(super) shift: u64,
    /// The first and the last tombstone, and until when the first stands.
    pub(super) tombs: Option<[u64; 3]>,
    pub(super) tomb: BTreeMap<u64, (u64, String)>,
}

/// Says what does not agree at a time of the lock.
pub(super) fn check(record: &Record, index: &Index, now: u64) -> Result<(), String> {
    holds(record, index)?;
    owners(record, index)?;
    line(&record.writers, 'W', index, now)?;
    line(&record.readers, 'R', index, now)?;
    let waiting = record.writers.places.len() + record.readers.places.len();
    same("the index of places", &index.places.len(), &waiting)?;
    tombs(record, index)?;
    if record.sole.is_none() {
        let places = record
            .writers
            .places
            .values()
            .chain(record.readers.places.values());
        let deadlines = record.holds.values().map(|hold| hold.deadline);
        let latest = (deadlines.chain(places.map(|place| place.deadline + KEPT))).max();
        if latest > record.kept {
            return Err(format!(
                "kept until {:?}, needed until {latest:?}",
                record.kept
            ));
        }
        // A free lock has none; it would make the next one promise less than it must.
        if latest.is_none()
            && record.kept.is_some()
            && record.writers.numbers.is_none()
            && record.readers.numbers.is_none()
        {
            return Err("x is left although nobody holds or waits".to_owned());
        }
    }
    Ok(())
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, noted: &T, counted: &T) -> Result<(), String> {
    if noted == counted {
        Ok(())
    } else {
        Err(format!("{what}: noted {noted:?}, counted {counted:?}"))
    }
}

fn holds(record: &Record, index: &Index) -> Result<(), String> {
    let counted = |mode| {
        let holds = record.holds.values();
        holds
            .filter(|hold| hold.number > 0 && hold.mode == mode)
            .count() as u64
    };
    let listed = [counted(LockMode::Read), counted(LockMode::Write)];
    let total = listed[0] + listed[1];
    let [reads, writes, earliest] = index.holds.unwrap_or_default();
    let earliest = earliest + index.shift;
    same("reads and writes", &[reads, writes], &listed)?;
    let listed = index.ids.values();
    if !index.lingers && listed.into_iter().any(|id| id.ends_with(HoldId::LINGERS)) {
        return Err("a hold that may linger is not counted as one".to_owned());
    }
    if index.holds.is_some() && total == 0 {
        return Err("h is left although nobody holds".to_owned());
    }
    same("the list of holds", &(index.ids.len() as u64), &total)?;
    for (id, hold) in &record.holds {
        if hold.number > 0 {
            same("a hold's number", &index.ids.get(&hold.number), &Some(id))?;
            if earliest > hold.deadline {
                return Err(format!(
                    "{id} ends at {}, before the earliest {earliest}",
                    hold.deadline
                ));
            }
        }
    }
    if let Some([above, first]) = index.reviewed {
        let mut reviewed = record.holds.values().filter(|hold| hold.number > above);
        if reviewed.any(|hold| hold.deadline < first + index.shift) {
            return Err(format!("a reviewed hold ends before {first}"));
        }
    }
    Ok(())
}

fn owners(record: &Record, index: &Index) -> Result<(), String> {
    let mut counted = BTreeMap::<String, [u64; 2]>::new();
    for hold in record.holds.values() {
        if hold.number > 0 && !hold.owner.is_empty() {
            let of = counted.entry(hold.owner.clone()).or_default();
            of[usize::from(hold.mode == LockMode::Write)] += 1;
        }
    }
    same("what owners hold", &index.owners, &counted)
}

fn line(line: &Line, kind: char, index: &Index, now: u64) -> Result<(), String> {
    let [count, head, front, tail] = line.numbers.unwrap_or([0, 1, 1, 0]);
    same("who waits", &count, &(line.places.len() as u64))?;
    for (number, place) in &line.places {
        if !(head..=tail).contains(number) {
            return Err(format!(
                "place {kind}{number} is not between {head} and {tail}"
            ));
        }
        if *number < front && place.ear != '2' && place.deadline > now {
            return Err(format!("{} counts, but stands before {front}", place.id));
        }
        same(
            "a place",
            &index.places.get(&place.id),
            &Some(&format!("{kind}{number}")),
        )?;
    }
    let [phase, told] = line.phase;
    if told > phase || phase > tail {
        return Err(format!("phase {phase}, told {told}, tail {tail}"));
    }
    Ok(())
}

fn tombs(record: &Record, index: &Index) -> Result<(), String> {
    let [head, tail, until] = index.tombs.unwrap_or([1, 0, 0]);
    let first = index.tomb.get(&head).map_or(0, |tomb| tomb.0);
    same("until when the first tombstone stands", &until, &first)?;
    let numbers: Vec<u64> = index.tomb.keys().copied().collect();
    same(
        "the tombstones' numbers",
        &numbers,
        &(head..=tail).collect(),
    )?;
    // One that is over may be gone before its turn.
    for (id, until) in &record.buried {
        if !index
            .tomb
            .values()
            .any(|tomb| tomb == &(*until, id.clone()))
        {
            return Err(format!("the tombstone of {id} until {until} is not listed"));
        }
    }
    Ok(())
}
