//! The waiting line: first come first served, in phases of readers and writers; and the post, by which waiters are told.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::kind::LockMode;
use crate::protocol::{HoldId, Message, Nonce};

/// How long a place is kept after its end, in µs: the server may have stood still, and its waiter be about to ask again.
pub(super) const KEPT: u64 = 10_000_000;

/// How far from the end of the line such a place may be.
const MOST: u64 = 10_000;

/// How many readers are told at once that they may enter.
const PIECE: u64 = 128;

/// A waiter counts until `deadline`.
#[derive(Debug, Clone)]
pub(super) struct Waiter {
    pub(super) id: HoldId,
    pub(super) mode: LockMode,
    pub(super) owner: Option<Arc<str>>,
    pub(super) deadline: u64,
    pub(super) ear: Ear,
    pub(super) nonce: Nonce,
    pub(super) since: u64,
    /// The waiter has not asked until `deadline`: its place is kept for a while, but delays no other waiter.
    pub(super) silent: bool,
    /// Its number among those of its mode.
    pub(super) index: u64,
    /// The number of the last reader that came before a writer.
    pub(super) before: u64,
}

/// Whether a waiter hears messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ear {
    /// Not subscribed yet.
    Unknown,
    /// It says that it does.
    Subscribed,
    /// It said that it does, and yet missed a message: its place is kept, but delays no other waiter.
    Deaf,
}

impl Waiter {
    /// Whether other waiters wait for it.
    fn counts(&self) -> bool {
        self.ear != Ear::Deaf && !self.silent
    }

    /// Passes over one that ought to have heard; whether the next one may be asked.
    pub(super) fn pass_over(&mut self, post: &Post<'_>) -> bool {
        let deaf = post.knows_who_hears() && self.ear == Ear::Subscribed;
        if deaf {
            self.ear = Ear::Deaf;
        }
        deaf
    }
}

/// The waiters for a lock, each mode in its order.
#[derive(Debug, Default)]
pub(super) struct Line {
    writers: VecDeque<Waiter>,
    readers: VecDeque<Waiter>,
    /// The number of the last writer that came.
    last_writer: u64,
    /// The number of the last reader that came.
    tail: u64,
    /// Readers up to this one enter before the next writer.
    phase: u64,
    /// Readers up to this one have been told that they may enter.
    told: u64,
}

impl Line {
    pub(super) fn is_empty(&self) -> bool {
        self.writers.is_empty() && self.readers.is_empty()
    }

    /// The waiters of one mode, in their order.
    pub(super) fn of(&self, mode: LockMode) -> &VecDeque<Waiter> {
        match mode {
            LockMode::Read => &self.readers,
            LockMode::Write => &self.writers,
        }
    }

    fn of_mut(&mut self, mode: LockMode) -> &mut VecDeque<Waiter> {
        match mode {
            LockMode::Read => &mut self.readers,
            LockMode::Write => &mut self.writers,
        }
    }

    /// The first waiter for which others wait.
    pub(super) fn first(&self, mode: LockMode) -> Option<&Waiter> {
        self.of(mode).iter().find(|waiter| waiter.counts())
    }

    pub(super) fn drop_dead(&mut self, now: u64) {
        if self.is_empty() {
            return;
        }
        for (line, last) in [
            (&mut self.writers, self.last_writer),
            (&mut self.readers, self.tail),
        ] {
            line.retain_mut(|waiter| {
                let kept = if last - waiter.index < MOST { KEPT } else { 0 };
                waiter.silent = waiter.deadline <= now;
                waiter.deadline + kept > now
            });
        }
    }

    /// After a writer, all waiting readers enter, however many writers wait.
    pub(super) fn end_write_phase(&mut self) {
        self.phase = self.tail;
    }

    /// A waiter has been heard of; whether its place had ended, and is reckoned with until then now.
    pub(super) fn hears(&mut self, id: &HoldId, ear: Ear, until: u64) -> bool {
        let mut all = self.writers.iter_mut().chain(&mut self.readers);
        let Some(waiter) = all.find(|waiter| waiter.id == *id) else {
            return false;
        };
        waiter.ear = ear;
        let ended = std::mem::take(&mut waiter.silent);
        if ended {
            waiter.deadline = until;
        }
        ended
    }

    /// Gives a waiter a place at the end, or refreshes the one it has.
    pub(super) fn join(&mut self, mut new: Waiter) {
        let tail = self.tail;
        let line = self.of_mut(new.mode);
        if let Some(waiter) = line.iter_mut().find(|waiter| waiter.id == new.id) {
            (waiter.deadline, waiter.nonce) = (new.deadline, new.nonce);
            let before = waiter.index - 1;
            if new.mode == LockMode::Read {
                // A reader that was told to enter found the lock taken: it has to be told once more.
                self.told = self.told.min(before);
            }
            return;
        }
        match new.mode {
            LockMode::Write => {
                self.last_writer += 1;
                (new.index, new.before) = (self.last_writer, tail);
            }
            LockMode::Read => {
                self.tail += 1;
                new.index = self.tail;
            }
        }
        self.of_mut(new.mode).push_back(new);
    }

    /// Gives up a place; whether there was one.
    pub(super) fn leave(&mut self, id: &HoldId) -> bool {
        if self.is_empty() {
            return false;
        }
        let before = self.writers.len() + self.readers.len();
        self.writers.retain(|waiter| waiter.id != *id);
        self.readers.retain(|waiter| waiter.id != *id);
        self.writers.len() + self.readers.len() < before
    }

    /// Until when a waiter in the line keeps this client out although no hold does.
    pub(super) fn keeps_out(&self, mode: LockMode, id: &HoldId) -> Option<u64> {
        if self.is_empty() {
            return None;
        }
        let me = self.of(mode).iter().find(|waiter| waiter.id == *id);
        let writer = self.first(LockMode::Write);
        let in_the_way = match mode {
            LockMode::Read => {
                writer.filter(|writer| !me.is_some_and(|me| self.goes_first(me, writer)))
            }
            LockMode::Write => writer.filter(|writer| writer.id != *id).or_else(|| {
                self.first(LockMode::Read)
                    .filter(|reader| me.is_none_or(|me| self.goes_first(reader, me)))
            }),
        };
        in_the_way.map(|waiter| waiter.deadline)
    }

    /// The next waiters, while no writer holds.
    pub(super) fn next(&self) -> Option<Next> {
        if self.is_empty() {
            return None;
        }
        let writer = self.first(LockMode::Write);
        match self.first(LockMode::Read) {
            Some(reader) if writer.is_none_or(|writer| self.goes_first(reader, writer)) => {
                let upto = writer.map_or(self.tail, |writer| writer.before);
                let know = reader.index <= self.told;
                Some(Next::Readers { upto, know })
            }
            _ => writer.map(|_| Next::Writer),
        }
    }

    /// Whether the next waiter is subscribed.
    pub(super) fn next_ear(&self) -> Option<Ear> {
        let mode = match self.next()? {
            Next::Readers { .. } => LockMode::Read,
            Next::Writer => LockMode::Write,
        };
        self.first(mode).map(|waiter| waiter.ear)
    }

    /// How many are passed over.
    pub(super) fn deaf(&self) -> usize {
        let all = self.writers.iter().chain(&self.readers);
        all.filter(|waiter| waiter.ear == Ear::Deaf).count()
    }

    /// Tells the first reader once more that it may enter, or passes it over; whether it was heard.
    pub(super) fn tell_first_reader_again(&mut self, post: &mut Post<'_>) -> bool {
        let mut readers = self.readers.iter_mut();
        let Some(reader) = readers.find(|reader| reader.counts()) else {
            return false;
        };
        let heard = post.tell(&Message::Look(reader.id.clone()));
        if !heard {
            reader.pass_over(post);
        }
        heard
    }

    /// From now on readers up to this one go first.
    pub(super) fn begin_read_phase(&mut self, upto: u64) {
        self.phase = self.phase.max(upto);
    }

    /// Notifies readers up to the end of their phase that they may enter, each once, and not too many at a time: readers that
    /// enter notify the next.
    pub(super) fn tell_readers(&mut self, post: &mut Post<'_>) {
        let Some(first) = self.first(LockMode::Read).map(|first| first.index) else {
            return;
        };
        let first = first.max(self.told + 1);
        let upto = self.phase.min(first + post.piece() - 1);
        self.told = self.told.max(upto);
        for reader in &mut self.readers {
            let coming = (first..=upto).contains(&reader.index) && reader.counts();
            if coming && !post.tell(&Message::Look(reader.id.clone())) {
                reader.pass_over(post);
            }
        }
    }

    /// Takes the first writer that is neither silent nor deaf out of the line; also returns its index.
    pub(super) fn take_writer(&mut self) -> Option<(usize, Waiter)> {
        let mut writers = self.writers.iter();
        let at = writers.position(Waiter::counts)?;
        Some((at, self.writers.remove(at)?))
    }

    /// Puts a writer back that [`take_writer`](Self::take_writer) took.
    pub(super) fn put_writer_back(&mut self, at: usize, writer: Waiter) {
        self.writers.insert(at, writer);
    }

    /// Whether a waiting reader enters before a waiting writer.
    fn goes_first(&self, reader: &Waiter, writer: &Waiter) -> bool {
        reader.index <= writer.before || reader.index <= self.phase
    }
}

/// The next waiters.
#[derive(Debug)]
pub(super) enum Next {
    /// The readers up to this one; whether they know.
    Readers {
        /// The number of the last of them.
        upto: u64,
        /// Whether the first of them has been told.
        know: bool,
    },
    /// The first writer.
    Writer,
}

/// Delivers messages, and knows, or does not, whether they are heard.
pub struct Post<'a> {
    deliver: &'a mut dyn FnMut(&Message) -> bool,
    trusted: bool,
    when_entering: bool,
    piece: u64,
}

impl<'a> Post<'a> {
    /// A post that knows whether a message reached a subscriber.
    pub fn new(deliver: &'a mut dyn FnMut(&Message) -> bool) -> Self {
        Self {
            deliver,
            trusted: true,
            when_entering: true,
            piece: PIECE,
        }
    }

    /// A post that does not know whether a message arrives. So messages only ask waiters to look, and grant nothing.
    #[must_use]
    pub fn untrusted(self) -> Self {
        Self {
            trusted: false,
            ..self
        }
    }

    /// A post that delivers when a holder leaves, but not when a waiter enters.
    #[must_use]
    pub fn not_when_entering(self) -> Self {
        Self {
            when_entering: false,
            ..self
        }
    }

    /// Tells so many readers at once.
    #[must_use]
    pub fn in_pieces_of(self, piece: u64) -> Self {
        Self { piece, ..self }
    }

    pub(super) fn tell(&mut self, message: &Message) -> bool {
        (self.deliver)(message)
    }

    pub(super) fn knows_who_hears(&self) -> bool {
        self.trusted
    }

    pub(super) fn serves_who_enters(&self) -> bool {
        self.when_entering
    }

    pub(super) fn piece(&self) -> u64 {
        self.piece
    }
}

impl std::fmt::Debug for Post<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Post")
            .field("trusted", &self.trusted)
            .finish_non_exhaustive()
    }
}
