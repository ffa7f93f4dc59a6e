//! Small scopes whole: every choice is taken in turn instead of being drawn. Their cases are numbered one after the other.

mod late_copy;
mod late_grant;
mod one_fault;
mod setup;
mod trials;

pub use self::trials::{Report, cases, exhaust, run_case, shrink_case};

/// The choices of a case, one after the other.
#[derive(Debug)]
struct Choices {
    left: u64,
}

impl Choices {
    fn of(case: u64) -> Self {
        Self { left: case }
    }

    /// One of so many.
    fn next(&mut self, many: usize) -> usize {
        let many = many as u64;
        let choice = self.left % many;
        self.left /= many;
        usize::try_from(choice).unwrap_or(0)
    }
}
