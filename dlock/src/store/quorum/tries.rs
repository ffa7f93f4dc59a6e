//! Tries that no majority answers.

use std::time::Duration;

use crate::clock::{Instant, sleep};
use crate::error::Error;
use crate::random;

/// One try after the other until a deadline.
pub(super) struct Tries {
    deadline: Instant,
    /// How long members may take to answer one.
    patience: Duration,
    /// Whether the present one ends with the deadline, and members may have too little time.
    is_cut: bool,
    /// Why the last one was in vain that was not cut short, or the first.
    known: Option<Error>,
}

impl Tries {
    pub(super) fn new(patience: Duration, deadline: Instant) -> Self {
        Self {
            deadline,
            patience,
            is_cut: false,
            known: None,
        }
    }

    /// The next one begins.
    pub(super) fn begin(&mut self) {
        self.is_cut = self.deadline < Instant::now() + self.patience;
    }

    /// It was in vain. Waits before servers that do not answer are asked again; an error if there is no use or no time.
    pub(super) async fn again(&mut self, error: Error, hopeless: bool) -> Result<(), Error> {
        if hopeless {
            return Err(error);
        }
        // That a server had no time to answer says nothing about it.
        let error = match self.known.take() {
            Some(known) if self.is_cut => known,
            _ => error,
        };
        let pause = Duration::from_millis(random::u64(20..100));
        if Instant::now() + pause >= self.deadline {
            return Err(error);
        }
        self.known = Some(error);
        sleep(pause).await;
        Ok(())
    }
}
