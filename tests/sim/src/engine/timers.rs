//! Timers by when they are due. One that is cleared stays in the heap, empty, until its time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::task::Waker;

use super::Nanos;

/// All timers of the simulation.
#[derive(Debug, Default)]
pub(crate) struct Timers {
    heap: BinaryHeap<Reverse<(Nanos, u64)>>,
    /// By slot, with the number of the timer that it has now.
    slots: Vec<(u64, Option<Waker>)>,
    free: Vec<usize>,
    next: u64,
}

/// A timer's number has its slot in the lower half.
const SLOT: u64 = 0xffff_ffff;

impl Timers {
    pub(crate) fn set(&mut self, at: Nanos, waker: Waker) -> u64 {
        self.next += 1;
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push((0, None));
            self.slots.len() - 1
        });
        let timer = self.next << 32 | slot as u64;
        self.slots[slot] = (timer, Some(waker));
        self.heap.push(Reverse((at, timer)));
        timer
    }

    pub(crate) fn clear(&mut self, timer: u64) -> Option<Waker> {
        let slot = usize::try_from(timer & SLOT).ok()?;
        let (of, waker) = self.slots.get_mut(slot)?;
        if *of != timer {
            return None;
        }
        *of = 0;
        self.free.push(slot);
        waker.take()
    }

    /// When the next one is due.
    pub(crate) fn next_due(&mut self) -> Option<Nanos> {
        while let Some(Reverse((at, timer))) = self.heap.peek() {
            let slot = usize::try_from(*timer & SLOT).unwrap_or(usize::MAX);
            if self.slots.get(slot).is_some_and(|(of, _)| of == timer) {
                return Some(*at);
            }
            self.heap.pop();
        }
        None
    }

    /// The next one that is due by now.
    pub(crate) fn fire(&mut self, now: Nanos) -> Option<Waker> {
        if self.next_due()? > now {
            return None;
        }
        let Reverse((_, timer)) = self.heap.pop()?;
        self.clear(timer)
    }
}
