//! What has to be true at any time.

use super::world::{Task, World};

impl World {
    pub(super) fn check(&self) {
        let leaders = self
            .tasks
            .iter()
            .filter(|task| matches!(task, Task::Leads(..)))
            .count();
        assert!(leaders <= 1, "two lead");
        let writing = self.line.is_written();
        assert!(leaders == 0 || !writing, "asks behind a writer of its own");
        let current = self.line.current.as_ref().map(|current| current.hold.id);
        let progress = current.is_some_and(|id| self.shares(id) > 0) || leaders == 1;
        assert!(
            self.first_waiting().is_none() || progress,
            "waits for nobody"
        );
        for hold in self.holds.values() {
            let shares = self.shares(hold.id);
            assert!(
                shares > 0,
                "a hold that nobody has, and that does not go back"
            );
            assert!(
                shares == 1 || hold.terms.shareable(),
                "two hold what is for one"
            );
        }
        for task in &self.tasks {
            if let Task::Holds(id) | Task::Leads(_, Some(id)) = task {
                assert!(self.holds.contains_key(id), "stands on what went back");
            }
        }
        let busy = self.tasks.iter().any(|task| *task != Task::Idle);
        assert_eq!(self.line.is_idle(), !busy, "idle or not");
    }

    /// What the future depends on: the tasks and the line, with holds and places by their order.
    pub(super) fn essence(&self) -> String {
        let order = |id: usize| self.holds.keys().position(|known| *known == id);
        let tasks = self.tasks.map(|task| match task {
            Task::Leads(kind, hold) => (Task::Leads(kind, None), hold.map(order)),
            Task::Holds(id) => (Task::Holds(0), Some(order(id))),
            other => (other, None),
        });
        let holds: Vec<_> = (self.holds.values())
            .map(|hold| (hold.terms, hold.healthy, self.gone.contains(&hold.id)))
            .collect();
        let line = &self.line;
        let current = (line.current.as_ref()).map(|at| (order(at.hold.id), at.shares));
        let former = line
            .former
            .iter()
            .map(|(hold, shares)| (order(hold.id), *shares));
        let mut former: Vec<_> = former.collect();
        former.sort_unstable();
        let waiting: Vec<_> = (line.waiting.values())
            .map(|waiter| (waiter.terms, waiter.handle))
            .collect();
        let led = line.led;
        format!(
            "{tasks:?} {holds:?} {current:?} {former:?} {waiting:?} {led} {}",
            self.closed
        )
    }
}
