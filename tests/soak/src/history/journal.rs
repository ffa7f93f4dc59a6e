//! Writing: one line for each event, and one system call for each line, so that what was written stays written.
//!
//! | line | means |
//! |---|---|
//! | `A at id lock r\|w owner patience` | a call begins; `owner` is `-` for none, and `+` follows if it is for several locks |
//! | `G at id token 0\|1` | it has the lock, `-` for no token; whether `check()` says so |
//! | `N at id why` | it returns without |
//! | `Y at id` | it still believes in it |
//! | `E at id last` | it gives it up, and believed in it until `last` |
//! | `R at id outcome` | its release returns, or no caller waits for that |
//! | `S at ms` | the process did not run for so long |
//! | `M at text` | something that people should know |

use std::{
    cell::Cell,
    fmt::{Arguments, Display},
    fs::{File, OpenOptions},
    io::Write,
    path::Path,
};

use dlock_load::Patience;
use dlock_tests::now_ns;

/// The file of one process.
#[derive(Debug)]
pub(crate) struct Journal {
    file: File,
    next: Cell<u64>,
}

impl Journal {
    pub(crate) fn create(path: &Path) -> Self {
        let file = OpenOptions::new().create(true).append(true).open(path);
        Self {
            file: file.expect("the folder of histories is writable"),
            next: Cell::new(0),
        }
    }

    /// A call begins; returns its number.
    pub(crate) fn asks(
        &self,
        lock: usize,
        write: bool,
        owner: Option<usize>,
        patience: Patience,
        several: bool,
    ) -> u64 {
        let id = self.next.get();
        self.next.set(id + 1);
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
    pub(crate) fn calls(&self) -> u64 {
        self.next.get()
    }

    /// It has the lock since `at`.
    pub(crate) fn got(&self, at: u64, id: u64, token: Option<u64>, believed: bool) {
        let believed = u8::from(believed);
        let token = token.map_or("-".to_owned(), |token| token.to_string());
        self.write(format_args!("G {at} {id} {token} {believed}\n"));
    }

    pub(crate) fn did_not_get(&self, id: u64, why: impl Display) {
        let now = now_ns();
        self.write(format_args!("N {now} {id} {why}\n"));
    }

    pub(crate) fn believes(&self, at: u64, id: u64) {
        self.write(format_args!("Y {at} {id}\n"));
    }

    pub(crate) fn gives_up(&self, id: u64, last: u64) {
        let now = now_ns();
        self.write(format_args!("E {now} {id} {last}\n"));
    }

    pub(crate) fn released(&self, id: u64, outcome: impl Display) {
        let now = now_ns();
        self.write(format_args!("R {now} {id} {outcome}\n"));
    }

    pub(crate) fn stood_still(&self, ms: u128) {
        let now = now_ns();
        self.write(format_args!("S {now} {ms}\n"));
    }

    pub(crate) fn tells(&self, text: impl Display) {
        let now = now_ns();
        let text = text.to_string().replace('\n', " / ");
        self.write(format_args!("M {now} {text}\n"));
    }

    fn write(&self, line: Arguments<'_>) {
        let written = (&self.file).write_all(line.to_string().as_bytes());
        written.expect("the disk has room for histories");
    }
}
