//! What an attempt asks members once it knows what some have answered.

use std::time::Duration;

use super::attempt::{Attempt, Heard, Requests, Want, acquire, hear};
use super::members::Members;
use crate::clock::{Instant, sleep};
use crate::protocol::Op;
use crate::random;

/// How often, and after which pause, members are asked again that have refused although the one where attempts meet has
/// granted.
pub(super) const TRIES: u32 = 3;
const AGAIN: Duration = Duration::from_millis(2);

impl Attempt {
    /// Nobody else comes past the member where attempts meet: so those that have refused have not yet received the release
    /// of the holder before, or the end of an attempt that has lost. They are asked again instead of all the others.
    pub(super) fn ask_again(&mut self, requests: &Requests, want: &Want, deadline: Instant) {
        self.tries -= 1;
        let refused = self.grants.take_holding();
        self.quorum.ledger.ask(&self.id, refused);
        let until = deadline.min(Instant::now() + self.quorum.patience(self.lease));
        for number in refused.iter() {
            self.count.no -= 1;
            self.awaited.put(number);
            let op = acquire(&self.id, &want.entry);
            let asking = self.quorum.members[number].ask(&self.key, op, until);
            let pause = AGAIN.mul_f64(0.5 + random::f64());
            let later = Box::pin(async move {
                sleep(pause).await;
                asking.await
            });
            requests.push(hear(later, Heard::Acquire));
        }
    }

    /// The second round.
    pub(super) fn tell_token(&self, requests: &Requests, told: Members, until: Instant) {
        let Some(op) = self.raise() else {
            return;
        };
        for number in told.iter() {
            let asking = self.quorum.members[number].ask(&self.key, op.clone(), until);
            requests.push(hear(asking, Heard::Raise));
        }
    }

    /// What says the token, once there is one.
    pub(super) fn raise(&self) -> Option<Op> {
        let token = self.grants.token?;
        let hold = self.id.clone();
        Some(Op::Raise { hold, token })
    }
}
