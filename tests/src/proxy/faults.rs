//! What a proxy can be told to do.

use std::{sync::Arc, time::Duration};

use super::{
    Counters, Direction, Pattern,
    rules::{Cut, Rules, Weather},
};

/// The faults of a [`FaultProxy`](super::FaultProxy): of all its connections, or of those of one user.
#[derive(Clone, Debug)]
pub struct Faults {
    pub(super) rules: Arc<Rules>,
}

impl Faults {
    /// Ends all faults; what was held back is delivered now.
    pub fn pass(&self) {
        self.rules.clear_cuts();
        self.rules.weather.send_replace(Weather::default());
    }

    /// Delivers everything in this direction later by `delay`.
    pub fn delay(&self, direction: Direction, delay: Duration) {
        self.rules
            .weather
            .send_modify(|weather| weather.change(direction, |leg| leg.delay = delay));
    }

    /// Holds everything back in this direction, as a network partition does; new connections are accepted.
    pub fn blackhole(&self, direction: Direction) {
        self.rules
            .weather
            .send_modify(|weather| weather.change(direction, |leg| leg.held = true));
    }

    /// Closes all clients' connections and every new one, as if the server were down.
    pub fn refuse(&self) {
        self.rules
            .weather
            .send_modify(|weather| weather.refuse = true);
        self.cut_all();
    }

    /// Closes all clients' connections now; new ones are welcome.
    pub fn cut_all(&self) {
        self.rules.storm.send_modify(|storms| *storms += 1);
    }

    /// The next `times` requests that contain `pattern` are executed, but their replies are lost: the
    /// connection closes when the reply arrives here.
    pub fn cut_after_request(&self, pattern: impl Into<Pattern>, times: usize) {
        self.rules.add_cut(Cut::After, pattern.into(), times);
    }

    /// The next `times` requests that contain `pattern` do not reach the server: the connection closes instead.
    pub fn cut_before_request(&self, pattern: impl Into<Pattern>, times: usize) {
        self.rules.add_cut(Cut::Before, pattern.into(), times);
    }

    /// The next `times` requests that contain `pattern` are kept back for [`deliver_kept`](Self::deliver_kept). Their
    /// connections close for the client, which has to send them again elsewhere, and stay open to the server.
    pub fn keep_request(&self, pattern: impl Into<Pattern>, times: usize) {
        self.rules.add_cut(Cut::Keep, pattern.into(), times);
    }

    /// Delivers what was kept back, in that order, each over the connection it was sent on. Returns the server's
    /// answers, when all are there.
    pub async fn deliver_kept(&self) -> Vec<String> {
        let mut answers = Vec::new();
        for kept in self.rules.take_kept() {
            answers.push(kept.deliver().await);
        }
        answers
    }

    /// The next `times` requests that contain `pattern` do not reach the server, and neither side learns of it: their
    /// connections stay open, and nothing passes any more, either way.
    pub fn mute_request(&self, pattern: impl Into<Pattern>, times: usize) {
        self.rules.add_cut(Cut::Mute, pattern.into(), times);
    }

    /// Scripts have `to` wherever their text has `from`, which is as long: so they meet a server that lacks what is
    /// named there. They are known to the server by other hashes then, so each call of one needs its text.
    pub fn alter_scripts(&self, from: &str, to: &str) {
        self.rules.add_alteration(from, to);
    }

    /// Swallows pub/sub messages from now on, or no longer; subscriptions are still confirmed.
    pub fn drop_pushes(&self, drop: bool) {
        self.rules
            .weather
            .send_modify(|weather| weather.drop_pushes = drop);
    }

    /// Swallows only the messages by which others ask for a lock that lingers.
    pub fn drop_revokes(&self, drop: bool) {
        self.rules
            .weather
            .send_modify(|weather| weather.drop_revokes = drop);
    }

    /// What went through so far.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.rules.count.read()
    }
}
