//! The judge's verdict.

use std::fmt;

/// Something a read/write lock does not allow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Violation {
    /// Two holds at the same time, at least one of them a writer.
    Overlap {
        /// The lock.
        key: String,
        /// The holder at that time.
        first: String,
        /// The holder that came in, too.
        second: String,
    },
    /// A hold's token is not larger than that of an earlier hold that it excludes or that excluded it.
    TokenOrder {
        /// The lock.
        key: String,
        /// The earlier hold.
        first: String,
        /// The later hold.
        second: String,
    },
    /// Two holds have the same token.
    TokenTwice {
        /// The lock.
        key: String,
        /// One of them.
        first: String,
        /// The other.
        second: String,
    },
    /// An end without a beginning, or two beginnings: the log itself is wrong.
    Unpaired {
        /// The event.
        event: String,
    },
}

/// What [`check_exclusion`](super::check_exclusion) found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Holds of readers.
    pub reads: usize,
    /// Holds of writers.
    pub writes: usize,
    /// Holds that were lost, or ended with their process.
    pub broken: usize,
    /// Holds without an end; they count as never ending.
    pub unfinished: usize,
    /// The most readers that were in one lock at once.
    pub most_readers: usize,
    /// What must not be.
    pub violations: Vec<Violation>,
}

impl Report {
    /// Panics with the first violations, if there are any.
    pub fn assert_clean(&self) {
        let count = self.violations.len();
        let first = &self.violations[..count.min(5)];
        assert!(count == 0, "{count} violations, such as {first:#?}\n{self}");
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} reads (at most {} at once), {} writes, {} broken, {} unfinished, {} violations",
            self.reads,
            self.most_readers,
            self.writes,
            self.broken,
            self.unfinished,
            self.violations.len()
        )
    }
}
