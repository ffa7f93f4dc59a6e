//! The waiting line: first come first served, in phases of readers and writers.

use std::sync::Arc;

use crate::mode::Mode;
use crate::protocol::HoldId;

/// Somebody waits, and keeps the place until `deadline`.
#[derive(Debug)]
pub(super) struct Waiter {
    pub(super) id: HoldId,
    pub(super) mode: Mode,
    pub(super) owner: Option<Arc<str>>,
    pub(super) deadline: u64,
    place: u64,
}

/// Who waits for a lock.
#[derive(Debug, Default)]
pub(super) struct Line {
    /// In the order of their places.
    waiters: Vec<Waiter>,
    last_place: u64,
    /// Readers at or before this place enter before the next writer.
    readers_first: u64,
}

impl Line {
    pub(super) fn is_empty(&self) -> bool {
        self.waiters.is_empty()
    }

    /// The waiters of one mode, in their order.
    pub(super) fn of(&self, mode: Mode) -> impl Iterator<Item = &Waiter> {
        self.waiters
            .iter()
            .filter(move |waiter| waiter.mode == mode)
    }

    pub(super) fn first(&self, mode: Mode) -> Option<&Waiter> {
        self.of(mode).next()
    }

    pub(super) fn drop_dead(&mut self, now: u64) {
        self.waiters.retain(|waiter| waiter.deadline > now);
    }

    /// After a writer, everybody who reads and waits enters, however many writers wait.
    pub(super) fn end_write_phase(&mut self) {
        self.readers_first = self.last_place;
    }

    /// Gives a waiter a place at the end, or refreshes the one it has.
    pub(super) fn join(
        &mut self,
        id: &HoldId,
        mode: Mode,
        owner: Option<&Arc<str>>,
        deadline: u64,
        now: u64,
    ) {
        if let Some(waiter) = self.waiters.iter_mut().find(|waiter| waiter.id == *id) {
            waiter.deadline = deadline;
            return;
        }
        self.last_place = now.max(self.last_place + 1);
        self.waiters.push(Waiter {
            id: id.clone(),
            mode,
            owner: owner.cloned(),
            deadline,
            place: self.last_place,
        });
    }

    /// Gives up a place; whether there was one.
    pub(super) fn leave(&mut self, id: &HoldId) -> bool {
        let before = self.waiters.len();
        self.waiters.retain(|waiter| waiter.id != *id);
        self.waiters.len() < before
    }

    /// Until when somebody in the line keeps this asker out although no hold does.
    pub(super) fn keeps_out(&self, mode: Mode, id: &HoldId) -> Option<u64> {
        let me = self.waiters.iter().find(|waiter| waiter.id == *id);
        let writer = self.first(Mode::Write);
        let in_the_way = match mode {
            Mode::Read => writer.filter(|writer| !me.is_some_and(|me| self.goes_first(me, writer))),
            Mode::Write => writer.filter(|writer| writer.id != *id).or_else(|| {
                self.first(Mode::Read)
                    .filter(|reader| me.is_none_or(|me| self.goes_first(reader, me)))
            }),
        };
        in_the_way.map(|waiter| waiter.deadline)
    }

    /// The readers whose turn it is while nobody writes.
    pub(super) fn entering_readers(&self) -> Vec<HoldId> {
        let writer = self.first(Mode::Write);
        self.of(Mode::Read)
            .filter(|reader| writer.is_none_or(|writer| self.goes_first(reader, writer)))
            .map(|reader| reader.id.clone())
            .collect()
    }

    /// Takes the first writer out of the line.
    pub(super) fn take_writer(&mut self) -> Option<Waiter> {
        let mut waiters = self.waiters.iter();
        let first = waiters.position(|waiter| waiter.mode == Mode::Write)?;
        Some(self.waiters.remove(first))
    }

    /// Whether a waiting reader enters before a waiting writer.
    fn goes_first(&self, reader: &Waiter, writer: &Waiter) -> bool {
        reader.place < writer.place || reader.place <= self.readers_first
    }
}
