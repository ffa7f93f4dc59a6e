//! The events of all clients, checked by their order alone: a counter that grows with each entry and exit.

use std::sync::Mutex;

use dlock::{FencingToken, LockMode};

/// The clients inside, and the violations so far.
#[derive(Debug, Default)]
pub(crate) struct Judge(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    readers: usize,
    writers: usize,
    last_write: Option<FencingToken>,
    grants: u64,
    violations: Vec<String>,
}

impl Judge {
    pub(crate) fn enter(&self, mode: LockMode, token: FencingToken) {
        let mut state = self.0.lock().expect("no panic");
        state.grants += 1;
        let alone = match mode {
            LockMode::Read => state.writers == 0,
            LockMode::Write => state.writers == 0 && state.readers == 0,
        };
        if !alone {
            let why = format!("{mode:?} beside {} and {}", state.readers, state.writers);
            state.violations.push(why);
        }
        if mode == LockMode::Write {
            if state.last_write >= Some(token) {
                let why = format!("token {token} after {:?}", state.last_write);
                state.violations.push(why);
            }
            state.last_write = Some(token);
            state.writers += 1;
        } else {
            state.readers += 1;
        }
    }

    pub(crate) fn leave(&self, mode: LockMode) {
        let mut state = self.0.lock().expect("no panic");
        match mode {
            LockMode::Read => state.readers -= 1,
            LockMode::Write => state.writers -= 1,
        }
    }

    pub(crate) fn grants(&self) -> u64 {
        self.0.lock().expect("no panic").grants
    }

    pub(crate) fn assert_clean(&self) {
        let state = self.0.lock().expect("no panic");
        assert!(state.violations.is_empty(), "{:?}", state.violations);
    }
}
