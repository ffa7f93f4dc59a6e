//! Writing: one line for each event, and one system call for each line. Lines of several threads do not mix, and a line
//! outlives its process.
//!
//! | line | means |
//! |---|---|
//! | `A at id lock r\|w owner patience` | a call begins; `owner` is `-` for none, and `+` follows if it is for several locks |
//! | `G at id token 0\|1` | the call returns with the lock, `-` for no token; whether `check()` says so |
//! | `N at id why` | the call returns without the lock |
//! | `Y at id` | the holder still believes in the lock |
//! | `E at id last` | the holder gives the lock up, and believed in it until `last` |
//! | `R at id outcome` | the release returns, or no caller waits for that |
//! | `S at ms` | the process did not run for so long |
//! | `M at text` | something that people should know |

use std::{
    fmt::{Arguments, Display},
    fs::{File, OpenOptions},
    io::Write,
    path::Path,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

use dlock_load::Patience;
use rustix::time::{ClockId, clock_gettime};

/// Nanoseconds of the clock that all processes of this host share and that also counts suspend.
#[must_use]
pub fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Boottime);
    let number = |value: i64| u64::try_from(value).expect("boot was in the past");
    number(now.tv_sec) * 1_000_000_000 + number(now.tv_nsec)
}

/// The file of one process.
#[derive(Debug)]
pub struct Journal {
    file: File,
    next: AtomicU64,
}

impl Journal {
    /// Opens the file, and creates it first if need be.
    #[must_use]
    pub fn create(path: &Path) -> Self {
        let file = OpenOptions::new().create(true).append(true).open(path);
        Self {
            file: file.expect("the folder of histories is writable"),
            next: AtomicU64::new(0),
        }
    }

    /// A call begins; returns its number.
    pub fn asks(
        &self,
        lock: usize,
        write: bool,
        owner: Option<usize>,
        patience: Patience,
        several: bool,
    ) -> u64 {
        let id = self.next.fetch_add(1, Relaxed);
        let mode = if write { 'w' } else { 'r' };
        let owner = owner.map_or("-".to_owned(), |owner| owner.to_string());
        let patience = match patience {
            Patience::Try => "try".to_owned(),
            Patience::For(long) => long.to_string(),
            Patience::Forever => "forever".to_owned(),
        };
        let now = now_ns();
        let several = if several { "+" } else { "" };
        self.write(format_args!(
            "A {now} {id} {lock} {mode} {owner} {patience}{several}\n"
        ));
        id
    }

    /// How many calls there were.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.next.load(Relaxed)
    }

    /// The call has the lock since `at`.
    pub(super) fn got(&self, at: u64, id: u64, token: Option<u64>, believed: bool) {
        let believed = u8::from(believed);
        let token = token.map_or("-".to_owned(), |token| token.to_string());
        self.write(format_args!("G {at} {id} {token} {believed}\n"));
    }

    /// The call returned without the lock.
    pub fn did_not_get(&self, id: u64, why: impl Display) {
        let now = now_ns();
        self.write(format_args!("N {now} {id} {why}\n"));
    }

    pub(super) fn believes(&self, at: u64, id: u64) {
        self.write(format_args!("Y {at} {id}\n"));
    }

    pub(super) fn gives_up(&self, id: u64, last: u64) {
        let now = now_ns();
        self.write(format_args!("E {now} {id} {last}\n"));
    }

    /// The release returned: `ok`, `dropped` if no caller waits for it, or an error.
    pub fn released(&self, id: u64, outcome: impl Display) {
        let now = now_ns();
        self.write(format_args!("R {now} {id} {outcome}\n"));
    }

    /// The process did not run for so long.
    pub fn stood_still(&self, ms: u128) {
        let now = now_ns();
        self.write(format_args!("S {now} {ms}\n"));
    }

    /// A message for people.
    pub fn tells(&self, text: impl Display) {
        let now = now_ns();
        let text = text.to_string().replace('\n', " / ");
        self.write(format_args!("M {now} {text}\n"));
    }

    fn write(&self, line: Arguments<'_>) {
        let written = (&self.file).write_all(line.to_string().as_bytes());
        written.expect("the disk has room for histories");
    }
}
