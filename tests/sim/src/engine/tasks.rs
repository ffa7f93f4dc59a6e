//! Tasks and whose they are; which of them can run.

use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Wake, Waker};

use parking_lot::Mutex;

use super::Random;
use super::process::ProcId;

/// The client's are `Send`, those of the simulation need not be.
pub(crate) type Task = Pin<Box<dyn Future<Output = ()>>>;

/// The tasks of all processes.
#[derive(Default)]
pub(crate) struct Tasks {
    slots: Vec<Slot>,
    free: Vec<usize>,
    generation: u64,
    woken: Woken,
    ready: Vec<u64>,
}

/// The tasks that were woken since the last look.
type Woken = Arc<Mutex<Vec<u64>>>;

#[derive(Default)]
struct Slot {
    id: u64,
    of: ProcId,
    task: Option<Task>,
    waker: Option<Waker>,
    queued: bool,
    aborted: bool,
}

struct Bell {
    id: u64,
    woken: Woken,
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.woken.lock().push(self.id);
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.woken.lock().push(self.id);
    }
}

/// A task that is about to run.
pub(crate) struct Turn {
    pub(crate) id: u64,
    pub(crate) of: ProcId,
    pub(crate) task: Task,
    pub(crate) waker: Waker,
}

impl Tasks {
    pub(crate) fn spawn(&mut self, of: ProcId, task: Task) -> u64 {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot::default());
            self.slots.len() - 1
        });
        self.generation += 1;
        let id = self.generation << 32 | slot as u64;
        let bell = Bell {
            id,
            woken: Arc::clone(&self.woken),
        };
        self.slots[slot] = Slot {
            id,
            of,
            task: Some(task),
            waker: Some(Waker::from(Arc::new(bell))),
            queued: true,
            aborted: false,
        };
        self.ready.push(id);
        id
    }

    fn slot(&mut self, id: u64) -> Option<&mut Slot> {
        let slot = usize::try_from(id & 0xffff_ffff).ok()?;
        self.slots.get_mut(slot).filter(|slot| slot.id == id)
    }

    /// Marks a task as over. The caller drops the returned value, when nothing is borrowed.
    pub(crate) fn abort(&mut self, id: u64) -> Option<Task> {
        let slot = self.slot(id)?;
        slot.aborted = true;
        let task = slot.task.take()?;
        self.retire(id);
        Some(task)
    }

    fn retire(&mut self, id: u64) {
        if let Some(slot) = self.slot(id) {
            *slot = Slot::default();
            self.free
                .push(usize::try_from(id & 0xffff_ffff).unwrap_or(0));
        }
    }

    /// The next task to run: the one that was woken first, or any.
    pub(crate) fn next(
        &mut self,
        order: Option<&mut Random>,
        may_run: impl Fn(ProcId) -> bool,
        parked: &mut Vec<(ProcId, u64)>,
    ) -> Option<Turn> {
        let woken = mem::take(&mut *self.woken.lock());
        for id in woken {
            if let Some(slot) = self.slot(id)
                && !mem::replace(&mut slot.queued, true)
            {
                self.ready.push(id);
            }
        }
        let mut order = order;
        while !self.ready.is_empty() {
            let id = match &mut order {
                Some(random) => self.ready.swap_remove(random.below(self.ready.len())),
                None => self.ready.remove(0),
            };
            let Some(slot) = self.slot(id) else { continue };
            if !may_run(slot.of) {
                parked.push((slot.of, id));
                continue;
            }
            slot.queued = false;
            if let (Some(task), Some(waker)) = (slot.task.take(), slot.waker.clone()) {
                let of = slot.of;
                return Some(Turn {
                    id,
                    of,
                    task,
                    waker,
                });
            }
        }
        None
    }

    /// A task that was parked may run again.
    pub(crate) fn unpark(&mut self, id: u64) {
        self.ready.push(id);
    }

    /// A task has run and is not over; it comes back if it was aborted meanwhile.
    pub(crate) fn put_back(&mut self, id: u64, task: Task) -> Option<Task> {
        let slot = self.slot(id)?;
        if slot.aborted {
            self.retire(id);
            return Some(task);
        }
        slot.task = Some(task);
        None
    }

    /// A task has come to its end.
    pub(crate) fn finished(&mut self, id: u64) {
        self.retire(id);
    }

    /// Takes all tasks of a process away.
    pub(crate) fn take_all(&mut self, of: ProcId) -> Vec<Task> {
        let ids: Vec<u64> = self
            .slots
            .iter()
            .filter(|slot| slot.id != 0 && slot.of == of)
            .map(|slot| slot.id)
            .collect();
        ids.into_iter().filter_map(|id| self.abort(id)).collect()
    }

    /// How many tasks a process has.
    pub(crate) fn count(&self, of: ProcId) -> usize {
        let of_it = |slot: &&Slot| slot.id != 0 && slot.of == of;
        self.slots.iter().filter(of_it).count()
    }
}
