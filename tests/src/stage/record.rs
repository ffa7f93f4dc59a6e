//! A lock's hash, read and checked.

use std::collections::BTreeMap;

use dlock::__internals::HoldId;
use dlock::LockMode;

use super::check;

/// How the last script on this lock ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strictness {
    /// As it should: nothing void is left.
    Finished,
    /// Half-way: void fields may be left.
    Aborted,
}

/// What a lock's hash says. Times are the lock's.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Record {
    /// The last token.
    pub last: u64,
    /// The only hold's id, if it is recorded as such.
    pub sole: Option<String>,
    /// The holds by id, whether their leases are over or not.
    pub holds: BTreeMap<String, RecordedHold>,
    /// The writers who wait.
    pub writers: Line,
    /// The readers who wait.
    pub readers: Line,
    /// Which acquires are ignored, and until when (server's time).
    pub buried: BTreeMap<String, u64>,
    /// Until when the key is kept, if that is noted.
    pub kept: Option<u64>,
    /// The last time that was noted, if that is later than the last token.
    pub noted: u64,
    /// How far the lock's time is ahead of the server's.
    pub offset: u64,
    /// Fields without a value.
    pub voids: Vec<String>,
}

/// A hold as it is recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedHold {
    /// Read or write.
    pub mode: LockMode,
    /// The end of its lease.
    pub deadline: u64,
    /// Its token.
    pub token: u64,
    /// Its number in the list; 0 for the only one.
    pub number: u64,
    /// Its owner, or nothing.
    pub owner: String,
}

/// A line as it is recorded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Line {
    /// How many wait by the count; the first number in use, the first who can hear, and the last.
    pub numbers: Option<[u64; 4]>,
    /// Readers: the end of the phase, and of those who know of it.
    pub phase: [u64; 2],
    /// The waiters, by number.
    pub places: BTreeMap<u64, Place>,
}

/// A place in a line as it is recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The ids of the waiters.
    pub id: String,
    /// Until when it is kept.
    pub deadline: u64,
    /// The last reader who came before.
    pub before: u64,
    /// Whether the waiter has subscribed.
    pub ear: char,
    /// What a grant repeats.
    pub nonce: String,
    /// Since when it waits.
    pub since: u64,
    /// The owner, or nothing.
    pub owner: String,
}

impl Record {
    /// Reads a hash at a time of the server, and says what is wrong in it.
    ///
    /// # Errors
    /// What is inconsistent.
    pub fn read(
        fields: &BTreeMap<String, String>,
        strictness: Strictness,
        time: u64,
    ) -> Result<Self, String> {
        let mut record = Self::default();
        let mut index = check::Index {
            fields: fields.len(),
            ..check::Index::default()
        };
        for (field, value) in fields {
            if value.is_empty() {
                record.voids.push(field.clone());
                continue;
            }
            record
                .take(field, value, &mut index)
                .ok_or_else(|| format!("cannot read {field:?}: {value:?}"))?;
        }
        if strictness == Strictness::Finished && !record.voids.is_empty() {
            return Err(format!("void fields are left: {:?}", record.voids));
        }
        if !fields.is_empty() && record.last == 0 {
            return Err("there is no last token".to_owned());
        }
        for hold in record.holds.values_mut() {
            hold.deadline += index.shift;
        }
        record.take_sole(&index, strictness)?;
        check::check(&record, &index, record.now(time))?;
        Ok(record)
    }

    /// The lock's time at a time of the server.
    #[must_use]
    pub fn now(&self, time: u64) -> u64 {
        (time + self.offset).max(self.last).max(self.noted)
    }

    /// The holders of the lock at a moment of its time.
    pub fn live(&self, now: u64) -> impl Iterator<Item = (&String, &RecordedHold)> {
        self.holds
            .iter()
            .filter(move |(_, hold)| hold.deadline > now)
    }

    /// Two live holds that exclude each other.
    #[must_use]
    pub fn conflict(&self, now: u64) -> Option<(&str, &str)> {
        let live: Vec<_> = self.live(now).collect();
        live.iter().enumerate().find_map(|(at, (id, hold))| {
            let other = live[..at].iter().find(|(_, other)| {
                let writes = hold.mode == LockMode::Write || other.mode == LockMode::Write;
                writes && (hold.owner.is_empty() || hold.owner != other.owner)
            });
            other.map(|(other, _)| (id.as_str(), other.as_str()))
        })
    }

    /// The only hold, if there is no list.
    fn take_sole(&mut self, index: &check::Index, strictness: Strictness) -> Result<(), String> {
        if strictness == Strictness::Finished && !index.sole.is_empty() {
            let others = index.fields - self.voids.len();
            if index.sole.len() > 1 || others > 2 {
                return Err("more than the only hold is recorded".to_owned());
            }
        }
        if index.holds.is_some() {
            return Ok(());
        }
        for (id, (hold, seen)) in &index.sole {
            let mut hold = hold.clone();
            hold.deadline += self.last;
            self.noted = self.last + seen;
            hold.token = self.last;
            self.holds.insert(id.clone(), hold);
            self.sole = Some(id.clone());
        }
        Ok(())
    }

    fn take(&mut self, field: &str, value: &str, index: &mut check::Index) -> Option<()> {
        let (kind, name) = field.split_at_checked(1)?;
        match (kind, name) {
            ("t", "") => self.last = value.parse().ok()?,
            ("x", "") => self.kept = Some(value.parse().ok()?),
            ("n", "") => self.noted = value.parse().ok()?,
            ("o", "") => {
                let (offset, shift) = value.split_once(' ').unwrap_or((value, "0"));
                (self.offset, index.shift) = (offset.parse().ok()?, shift.parse().ok()?);
            }
            ("h", "") => {
                let plain = value.strip_suffix(HoldId::LINGERS);
                index.lingers = plain.is_some();
                index.holds = Some(numbers(plain.unwrap_or(value).strip_prefix("1 ")?)?);
            }
            ("e", "") => index.reviewed = Some(numbers(value)?),
            ("w", "") => self.writers.numbers = Some(numbers(value.strip_prefix("1 ")?)?),
            ("r", "") => {
                let all: [u64; 6] = numbers(value.strip_prefix("1 ")?)?;
                let [count, head, front, tail, phase, told] = all;
                self.readers.numbers = Some([count, head, front, tail]);
                self.readers.phase = [phase, told];
            }
            ("z", "") => index.tombs = Some(numbers(value)?),
            ("h", number) => drop(index.ids.insert(number.parse().ok()?, value.to_owned())),
            ("z", number) => {
                let (until, id) = value.split_once(' ')?;
                let tomb = (until.parse().ok()?, id.to_owned());
                index.tomb.insert(number.parse().ok()?, tomb);
            }
            ("W", number) => {
                let number = number.parse().ok()?;
                self.writers.places.insert(number, place(value)?);
            }
            ("R", number) => {
                let number = number.parse().ok()?;
                self.readers.places.insert(number, place(value)?);
            }
            ("?", id) => drop(index.places.insert(id.to_owned(), value.to_owned())),
            ("@", owner) => drop(index.owners.insert(owner.to_owned(), numbers(value)?)),
            ("-", id) => drop(self.buried.insert(id.to_owned(), value.parse().ok()?)),
            ("+", id) => {
                let [mode, deadline, token, number, owner] = words(value)?;
                let hold = RecordedHold {
                    mode: mode_of(mode)?,
                    deadline: deadline.parse().ok()?,
                    token: token.parse().ok()?,
                    number: number.parse().ok()?,
                    owner: owner.to_owned(),
                };
                self.holds.insert(id.to_owned(), hold);
            }
            ("=", id) => {
                // Fields come in their order: `t` is known only in the end.
                let (mode, left, seen, owner) = match words(value) {
                    Some([mode, left, seen, owner]) => (
                        mode_of(mode)?,
                        left.parse().ok()?,
                        seen.parse().ok()?,
                        owner,
                    ),
                    None => (
                        LockMode::Write,
                        1000 * value.parse::<u64>().ok()?.checked_sub(1001)?,
                        0,
                        "",
                    ),
                };
                let hold = RecordedHold {
                    mode,
                    deadline: left,
                    token: 0,
                    number: 0,
                    owner: owner.to_owned(),
                };
                index.sole.push((id.to_owned(), (hold, seen)));
            }
            _ => return None,
        }
        Some(())
    }
}

fn place(value: &str) -> Option<Place> {
    let [id, deadline, before, ear, nonce, since, owner] = words(value)?;
    Some(Place {
        id: id.to_owned(),
        deadline: deadline.parse().ok()?,
        before: before.parse().ok()?,
        ear: ear.parse().ok()?,
        nonce: nonce.to_owned(),
        since: since.parse().ok()?,
        owner: owner.to_owned(),
    })
}

fn mode_of(word: &str) -> Option<LockMode> {
    match word {
        "r" => Some(LockMode::Read),
        "w" => Some(LockMode::Write),
        _ => None,
    }
}

/// So many words; the last one may contain anything.
fn words<const N: usize>(text: &str) -> Option<[&str; N]> {
    let words: Vec<_> = text.splitn(N, ' ').collect();
    words.try_into().ok()
}

fn numbers<const N: usize>(text: &str) -> Option<[u64; N]> {
    let numbers: Option<Vec<u64>> = text.split(' ').map(|word| word.parse().ok()).collect();
    numbers?.try_into().ok()
}
