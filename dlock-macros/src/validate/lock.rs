//! `lock` and `mode`: what kind of lock it is, and how it is taken.

use super::Scope;
use super::value::ident;
use crate::args::{Arg, Name};
use crate::diagnostics::Diagnostics;
use crate::plan::{Lock, Mode};
use crate::suggest;

const KINDS: [&str; 3] = ["rw", "mutex", "fenced_mutex"];

impl Scope<'_> {
    /// `None` after a fault.
    pub(super) fn lock(&self, faults: &mut Diagnostics) -> Option<Lock> {
        let Some(arg) = self.args.get(Name::Lock) else {
            return Some(Lock::Rw);
        };
        let written = match (arg.string(), ident(&arg.value)) {
            (Some(text), _) => text.value(),
            (None, Some(ident)) if !self.binds(ident) => ident.to_string(),
            _ => {
                faults.at(
                    &arg.value,
                    "the kind of a lock is the same for every call; write `lock = \"rw\"`, `lock = \"mutex\"` or \
                     `lock = \"fenced_mutex\"`",
                );
                return None;
            }
        };
        match written.as_str() {
            _ if arg.string().is_none() => {}
            "rw" => return Some(Lock::Rw),
            "mutex" => return Some(Lock::Mutex),
            "fenced_mutex" => return Some(Lock::FencedMutex),
            _ => {}
        }
        faults.at(
            &arg.value,
            match meant_kind(&written) {
                Some(kind) => {
                    format!("`{written}` is not a kind of lock; did you mean `lock = \"{kind}\"`?")
                }
                None => format!(
                    "`{written}` is not a kind of lock; there are `lock = \"rw\"`, for readers and writers, `lock = \"mutex\"`, \
                     which programs in other languages take, too, and `lock = \"fenced_mutex\"`, with fencing tokens; what is \
                     locked is said by `key = ..`"
                ),
            },
        );
        None
    }

    /// The mode, for a lock of this kind if that is known.
    pub(super) fn mode(&self, lock: Option<Lock>, faults: &mut Diagnostics) -> Mode {
        let Some(arg) = self.args.get(Name::Mode) else {
            return Mode::Write;
        };
        let Some(mode) = self.written_mode(arg, faults) else {
            return Mode::Write;
        };
        if lock.is_none_or(|lock| lock == Lock::Rw) {
            return mode;
        }
        match mode {
            Mode::Write => {}
            Mode::Read => faults.at(
                &arg.value,
                "a mutex has no readers, it is for one at a time; leave `mode` out, or write `lock = \"rw\"`",
            ),
            Mode::Computed(_) => faults.at(
                &arg.value,
                "a mutex has no modes to choose from, it is for one at a time; leave `mode` out, or write `lock = \"rw\"`",
            ),
        }
        Mode::Write
    }

    /// `None` after a fault.
    fn written_mode(&self, arg: &Arg, faults: &mut Diagnostics) -> Option<Mode> {
        let (written, is_string) = match (arg.string(), ident(&arg.value)) {
            (Some(text), _) => (text.value(), true),
            (None, Some(ident)) if !self.binds(ident) => (ident.to_string(), false),
            _ => return Some(Mode::Computed(arg.value.clone())),
        };
        match written.as_str() {
            "read" if is_string => return Some(Mode::Read),
            "write" if is_string => return Some(Mode::Write),
            _ => {}
        }
        let message = match meant_mode(&written) {
            _ if KINDS.contains(&written.as_str()) => {
                format!("`{written}` is not a mode; did you mean `lock = \"{written}\"`?")
            }
            Some(mode) => format!("`{written}` is not a mode; did you mean `mode = \"{mode}\"`?"),
            None if is_string => {
                format!("`{written}` is not a mode; write `mode = \"read\"` or `mode = \"write\"`")
            }
            None => return Some(Mode::Computed(arg.value.clone())),
        };
        faults.at(&arg.value, message);
        None
    }
}

fn meant_kind(written: &str) -> Option<&'static str> {
    match written.to_ascii_lowercase().as_str() {
        "rwlock" | "rw_lock" | "read_write" | "readwrite" | "shared" => Some("rw"),
        "exclusive" | "string" | "setnx" | "set_nx" | "redlock" | "lock" => Some("mutex"),
        "fenced" | "fencedmutex" | "mutex_fenced" => Some("fenced_mutex"),
        other => suggest::closest(other, KINDS),
    }
}

fn meant_mode(written: &str) -> Option<&'static str> {
    match written.to_ascii_lowercase().as_str() {
        "r" | "shared" | "reader" => Some("read"),
        "w" | "exclusive" | "writer" | "lock" => Some("write"),
        other => suggest::closest(other, ["read", "write"]),
    }
}
