//! The record of a mutex: its string, and the hash beside it.

use std::collections::BTreeMap;

use super::record::{Record, Strictness};

/// A mutex' string.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Held {
    /// The holder.
    pub value: String,
    /// Whether it is marked, as others wait for who holds.
    pub marked: bool,
    /// The last millisecond of the server's time in which it is there; `None` if it stays.
    pub until: Option<u64>,
}

impl Held {
    /// Reads what the stage returns: nothing, or the value and the time.
    pub(super) fn read(parts: &[String]) -> Option<Self> {
        let [value, until] = parts else {
            return None;
        };
        let bare = value.strip_suffix('+').filter(|bare| bare.contains('/'));
        Some(Self {
            value: bare.unwrap_or(value).to_owned(),
            marked: bare.is_some(),
            until: until.parse().ok(),
        })
    }

    /// Whether it is there at a time of the server, in microseconds.
    #[must_use]
    pub fn is_live(&self, time: u64) -> bool {
        self.until.is_none_or(|until| time / 1000 <= until)
    }
}

/// When a mutex is left free for those who know no line, in the server's time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Moments {
    /// The end of the last such moment.
    pub until: Option<u64>,
    /// Since when there was none.
    pub since: Option<u64>,
    /// When another program was last seen to hold it.
    pub seen: Option<u64>,
}

/// The hash beside a mutex.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MutexRecord {
    /// What it has in common with a read/write lock's: no holds.
    pub beside: Record,
    /// Whether the mutex was held when the hash was written last.
    pub noted_held: bool,
    /// When others may come.
    pub moments: Moments,
    /// The hold that it was handed over to, and until when.
    pub passed_on: Option<(String, u64)>,
}

impl MutexRecord {
    /// Reads a hash, and says what is wrong in it.
    ///
    /// # Errors
    /// What is inconsistent.
    pub fn read(
        fields: &BTreeMap<String, String>,
        strictness: Strictness,
        time: u64,
    ) -> Result<Self, String> {
        let mut rest = fields.clone();
        let mut take = |field: &str| rest.remove(field).filter(|value| !value.is_empty());
        let held = take("h");
        let ended = take("i");
        let is_end = |ended: &str| {
            let until = ended.split(' ').next();
            until.is_some_and(|until| until.parse::<u64>().is_ok())
        };
        if ended.is_some_and(|ended| !is_end(&ended)) {
            return Err("i has no end".to_owned());
        }
        let number = |field: &str, value: Option<String>| match value.map(|value| value.parse()) {
            None => Ok(None),
            Some(Ok(number)) => Ok(Some(number)),
            Some(Err(_)) => Err(format!("{field} is no number")),
        };
        let moments = Moments {
            until: number("q", take("q"))?,
            since: number("p", take("p"))?,
            seen: number(
                "b",
                take("b").and_then(|seen| Some(seen.split(' ').next()?.to_owned())),
            )?,
        };
        let passed_on = take("g");
        let passed_on = passed_on.as_deref().and_then(|hold| hold.split_once(' '));
        let passed_on = match passed_on {
            None => None,
            Some((until, id)) => {
                number("g", Some(until.to_owned()))?.map(|until| (id.to_owned(), until))
            }
        };
        if held
            .as_ref()
            .is_some_and(|held| !held.starts_with("1 0 1 "))
        {
            return Err(format!("{held:?} is no single hold"));
        }
        // Noted for the hold, whose end the string has.
        let waits = fields.get("w").is_some_and(|line| !line.is_empty());
        let kept = if held.is_some() && !waits {
            take("x")
        } else {
            None
        };
        if strictness == Strictness::Finished && fields.values().any(String::is_empty) {
            return Err("void fields are left".to_owned());
        }
        let mut beside = Record::read(&rest, strictness, time)?;
        if !beside.holds.is_empty() || beside.readers != super::Line::default() {
            return Err("a mutex has no readers, and its hold in the string".to_owned());
        }
        if let Some(kept) = number("x", kept)? {
            beside.kept = Some(kept);
        }
        Ok(Self {
            beside,
            noted_held: held.is_some(),
            moments,
            passed_on,
        })
    }
}
