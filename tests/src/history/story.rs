//! Reading what processes wrote.

use std::{collections::HashMap, fs, io::ErrorKind, path::Path, str::FromStr};

use dlock_load::Patience;

use super::{Call, Got, Outcome, Who};

/// Everything that was written.
#[derive(Debug, Default)]
pub struct Story {
    /// The calls of all processes.
    pub calls: Vec<Call>,
    /// When processes stood still, and for how long (ns).
    pub stalls: Vec<(u64, u64)>,
    /// Messages for people.
    pub messages: Vec<(Who, String)>,
}

impl Story {
    /// Reads the file of each process, and removes it.
    #[must_use]
    pub fn take<P: AsRef<Path>>(paths: &[P]) -> Self {
        let mut story = Self::default();
        for (process, path) in paths.iter().enumerate() {
            story.read(path.as_ref(), Who { process, life: 0 });
            fs::remove_file(path).expect("each process wrote a history");
        }
        story
    }

    /// Adds what a process wrote. A process that was killed early wrote nothing.
    pub fn read(&mut self, path: &Path, of: Who) {
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            Err(error) => panic!("{}: {error}", path.display()),
        };
        if let Err(line) = self.add(&text, of) {
            panic!("{of} wrote: {line:?}");
        }
    }

    /// Adds lines of a process. The last one may have been cut off when the process was killed.
    ///
    /// # Errors
    /// The first line that does not fit those before it.
    pub fn add<'t>(&mut self, text: &'t str, of: Who) -> Result<(), &'t str> {
        let mut own: HashMap<u64, usize> = HashMap::new();
        text.split_inclusive('\n')
            .filter_map(|line| line.strip_suffix('\n'))
            .try_for_each(|line| self.add_line(line, of, &mut own).ok_or(line))
    }

    fn add_line(&mut self, line: &str, of: Who, own: &mut HashMap<u64, usize>) -> Option<()> {
        let words: Vec<&str> = line.splitn(7, ' ').collect();
        let number = |at: usize| words.get(at)?.parse::<u64>().ok();
        let at = number(1)?;
        match *words.first()? {
            "A" => {
                let id = number(2)?;
                if own.insert(id, self.calls.len()).is_some() {
                    return None;
                }
                self.calls.push(Call {
                    of,
                    id,
                    lock: words.get(3)?.parse().ok()?,
                    write: match *words.get(4)? {
                        "w" => true,
                        "r" => false,
                        _ => return None,
                    },
                    owner: number_or_none(words.get(5)?)?,
                    patience: patience(words.get(6)?.trim_end_matches('+'))?,
                    several: words.get(6)?.ends_with('+'),
                    asked: at,
                    outcome: Outcome::Unknown,
                });
            }
            "S" => self.stalls.push((at, number(2)? * 1_000_000)),
            "M" => {
                let text = line.splitn(3, ' ').nth(2)?.to_owned();
                self.messages.push((of, text));
            }
            kind => {
                let call = &mut self.calls[*own.get(&number(2)?)?];
                let rest = line.splitn(4, ' ').nth(3);
                go_on(&mut call.outcome, kind, at, rest)?;
            }
        }
        Some(())
    }
}

/// Applies a later line of a call, or returns nothing if it does not fit. Each kind comes once, except `Y`.
fn go_on(outcome: &mut Outcome, kind: &str, at: u64, rest: Option<&str>) -> Option<()> {
    match (kind, outcome) {
        ("G", outcome @ Outcome::Unknown) => {
            let (token, believed) = rest?.split_once(' ')?;
            *outcome = Outcome::Got(Got {
                since: at,
                token: number_or_none(token)?,
                last: match believed {
                    "1" => Some(at),
                    "0" => None,
                    _ => return None,
                },
                ended: None,
                released: None,
            });
        }
        ("N", outcome @ Outcome::Unknown) => {
            let why = rest?.to_owned();
            *outcome = Outcome::Not { at, why };
        }
        ("Y", Outcome::Got(got)) if got.ended.is_none() => got.last = got.last.max(Some(at)),
        ("E", Outcome::Got(got)) if got.ended.is_none() => {
            let last = rest?.parse().ok()?;
            got.ended = Some(at);
            got.last = got.last.map(|before| before.max(last));
        }
        ("R", Outcome::Got(got)) if got.released.is_none() => {
            got.released = Some((at, rest?.to_owned()));
        }
        _ => return None,
    }
    Some(())
}

/// A number, or `-` for none.
#[expect(
    clippy::option_option,
    reason = "the outer one says whether it is either"
)]
fn number_or_none<T: FromStr>(word: &str) -> Option<Option<T>> {
    if word == "-" {
        return Some(None);
    }
    word.parse().ok().map(Some)
}

fn patience(word: &str) -> Option<Patience> {
    match word {
        "try" => Some(Patience::Try),
        "forever" => Some(Patience::Forever),
        long => long.parse().ok().map(Patience::For),
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;
    use crate::{
        history::{Belief, Journal, Tokens, check_exclusion},
        unique_prefix,
    };

    #[test]
    fn threads_share_a_journal() {
        let path = std::env::temp_dir().join(unique_prefix());
        let journal = Journal::create(&path);
        let write = || {
            for _ in 0..200 {
                let id = journal.asks(7, false, Some(3), Patience::For(5), true);
                Belief::begin(&journal, id, Some(id + 1), || false).end(|| false);
                journal.released(id, "ok");
            }
        };
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(write);
            }
        });
        journal.stood_still(2);
        journal.tells("two\nlines");
        let refused = journal.asks(0, true, None, Patience::Try, false);
        journal.did_not_get(refused, "no lock");
        let story = Story::take(&[path]);
        let report = check_exclusion(&story.calls, Tokens::OfAll);
        report.assert_clean();
        assert_eq!((report.reads, report.writes, report.broken), (800, 0, 0));
        let call = &story.calls[0];
        assert_eq!((call.lock, call.write, call.several), (7, false, true));
        assert_eq!((call.owner, call.patience), (Some(3), Patience::For(5)));
        assert_eq!(call.got().expect("granted").token, Some(call.id + 1));
        let last = &story.calls[800].outcome;
        assert!(matches!(last, Outcome::Not { why, .. } if why == "no lock"));
        assert_eq!(story.stalls[0].1, 2_000_000);
        assert_eq!(story.messages[0].1, "two / lines");
    }

    #[test]
    fn a_process_may_be_killed_while_it_writes() {
        let mut story = Story::default();
        let text = "A 1 0 0 w - try\nG 2 0 5 1\nY 7 0\nE 9 0";
        assert_eq!(story.add(text, Who::default()), Ok(()));
        assert_eq!(story.calls[0].believed(), Some((2, 7)));
        assert_eq!(story.calls[0].got().expect("granted").ended, None);
    }

    #[test]
    fn a_broken_journal_is_found() {
        // The last line of each is wrong.
        let [asks, got, ends] = ["A 1 0 0 w - forever", "G 2 0 5 1", "E 3 0 3"];
        let released = "R 4 0 ok";
        for lines in [
            &[got][..],
            &["A 1 0 0 w - soon"],
            &["A 1 0 0 x - forever"],
            &["A 1 0 0 w me forever"],
            &[asks, "G 2 0 five 1"],
            &[asks, "G 2 0 5 2"],
            &[asks, "G 2 0 5 1 1"],
            &["X 1 0"],
            &[asks, asks],
            &[asks, ends],
            &[asks, released],
            &[asks, got, got],
            &[asks, got, "N 3 0 busy"],
            &[asks, got, ends, ends],
            &[asks, got, ends, "Y 4 0"],
            &[asks, got, ends, released, released],
        ] {
            let text = format!("{}\n", lines.join("\n"));
            let wrong = Story::default().add(&text, Who::default()).err();
            assert_eq!(
                wrong.map(str::to_owned),
                lines.last().map(ToString::to_string)
            );
        }
    }
}
