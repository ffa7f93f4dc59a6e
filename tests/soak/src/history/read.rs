//! Reading back what processes wrote down.

use std::{collections::HashMap, fs, path::Path};

use dlock_load::Patience;

use super::call::{Call, Got, Outcome, Who};

/// All that was written down.
#[derive(Debug, Default)]
pub(crate) struct Story {
    pub(crate) calls: Vec<Call>,
    /// When processes stood still, and for how long (ns).
    pub(crate) stalls: Vec<(u64, u64)>,
    /// What they wanted to say.
    pub(crate) messages: Vec<(Who, String)>,
}

/// Adds what a process wrote. The last line may have been cut off with its process.
pub(crate) fn read(path: &Path, of: Who, story: &mut Story) {
    let text = fs::read_to_string(path).unwrap_or_default();
    let mut own: HashMap<u64, usize> = HashMap::new();
    for line in text
        .split_inclusive('\n')
        .filter_map(|line| line.strip_suffix('\n'))
    {
        let words: Vec<&str> = line.splitn(7, ' ').collect();
        add(&words, line, of, story, &mut own).unwrap_or_else(|| panic!("{of} wrote: {line:?}"));
    }
}

fn add(
    words: &[&str],
    line: &str,
    of: Who,
    story: &mut Story,
    own: &mut HashMap<u64, usize>,
) -> Option<()> {
    let number = |at: usize| words.get(at)?.parse::<u64>().ok();
    let at = number(1)?;
    let kind = *words.first()?;
    match kind {
        "A" => {
            own.insert(number(2)?, story.calls.len());
            story.calls.push(Call {
                of,
                id: number(2)?,
                lock: words.get(3)?.parse().ok()?,
                write: *words.get(4)? == "w",
                owner: words.get(5)?.parse().ok(),
                patience: patience(words.get(6)?.trim_end_matches('+'))?,
                several: words.get(6)?.ends_with('+'),
                asked: at,
                outcome: Outcome::Unknown,
            });
        }
        "S" => story.stalls.push((at, number(2)? * 1_000_000)),
        "M" => story
            .messages
            .push((of, line.splitn(3, ' ').nth(2)?.to_owned())),
        _ => {
            let call = &mut story.calls[*own.get(&number(2)?)?];
            let rest = || line.splitn(4, ' ').nth(3).map(str::to_owned);
            match (kind, &mut call.outcome) {
                ("G", outcome) => {
                    *outcome = Outcome::Got(Got {
                        since: at,
                        token: number(3),
                        last: (number(4)? == 1).then_some(at),
                        ended: None,
                        released: None,
                    });
                }
                ("N", outcome) => *outcome = Outcome::Not { at, why: rest()? },
                ("Y", Outcome::Got(got)) => got.last = got.last.max(Some(at)),
                ("E", Outcome::Got(got)) => {
                    let last = number(3)?;
                    got.ended = Some(at);
                    got.last = got.last.map(|before| before.max(last));
                }
                ("R", Outcome::Got(got)) => got.released = Some((at, rest()?)),
                _ => return None,
            }
        }
    }
    Some(())
}

fn patience(word: &str) -> Option<Patience> {
    match word {
        "try" => Some(Patience::Try),
        "forever" => Some(Patience::Forever),
        long => long.parse().ok().map(Patience::For),
    }
}
