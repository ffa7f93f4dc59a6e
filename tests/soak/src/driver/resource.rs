//! What the locks guard: two numbers for each, which workers read and write one higher. This is the receiver that fencing is
//! for: it outlives all faults, and refuses tokens for the second number that are smaller than one it has seen.

use std::{
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::{UnixListener, UnixStream},
    task::{AbortHandle, JoinSet},
};

/// What has been seen of one lock's numbers.
#[derive(Debug, Clone, Default)]
struct Numbers {
    plain: u64,
    fenced: u64,
    /// The largest token that came.
    fence: u64,
}

/// The sums, and what must not be.
#[derive(Debug, Clone, Default)]
pub(crate) struct Updates {
    pub(crate) written: u64,
    /// Written over what another one had written since it was read.
    pub(crate) lost_without_fence: u64,
    pub(crate) lost_with_fence: u64,
    /// Refused for their tokens.
    pub(crate) refused: u64,
    pub(crate) stories: Vec<String>,
}

/// All numbers.
#[derive(Debug, Default)]
struct State {
    numbers: Vec<Numbers>,
    updates: Updates,
}

/// The service; it ends with the value.
#[derive(Debug)]
pub(crate) struct Resource {
    state: Arc<Mutex<State>>,
    acceptor: AbortHandle,
}

impl Resource {
    pub(crate) fn start(path: &Path, locks: usize) -> Self {
        let listener = UnixListener::bind(path).expect("the run's folder is writable");
        let state = Arc::new(Mutex::new(State {
            numbers: vec![Numbers::default(); locks],
            ..State::default()
        }));
        let serving = Arc::clone(&state);
        let acceptor = tokio::spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                connections.spawn(serve(stream, Arc::clone(&serving)));
            }
        });
        Self {
            state,
            acceptor: acceptor.abort_handle(),
        }
    }

    /// What has come of it so far.
    pub(crate) fn updates(&self) -> Updates {
        lock(&self.state).updates.clone()
    }
}

impl Drop for Resource {
    fn drop(&mut self) {
        self.acceptor.abort();
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn serve(stream: UnixStream, state: Arc<Mutex<State>>) {
    let (from, mut to) = stream.into_split();
    let mut lines = BufReader::new(from).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let answer = lock(&state).answer(&line);
        // Workers are killed in the middle of what they do, and of what they say.
        let Some(answer) = answer else { return };
        if to.write_all(answer.as_bytes()).await.is_err() {
            return;
        }
    }
}

impl State {
    fn answer(&mut self, line: &str) -> Option<String> {
        let words: Vec<&str> = line.split(' ').collect();
        let number = |at: usize| words.get(at)?.parse::<u64>().ok();
        let lock: usize = words.get(1)?.parse().ok()?;
        let token = number(2);
        match *words.first()? {
            "r" => {
                let admitted = token.is_some_and(|token| self.admits(lock, token));
                let numbers = self.numbers.get(lock)?;
                let fenced = if admitted {
                    numbers.fenced.to_string()
                } else {
                    "-".to_owned()
                };
                Some(format!("{} {fenced}\n", numbers.plain))
            }
            "w" => {
                self.write_plain(lock, number(3)?);
                if let (Some(token), Some(read)) = (token, number(4)) {
                    self.write_fenced(lock, token, read);
                }
                Some("ok\n".to_owned())
            }
            _ => None,
        }
    }

    fn write_plain(&mut self, lock: usize, read: u64) {
        let numbers = &mut self.numbers[lock];
        self.updates.written += 1;
        self.updates.lost_without_fence += u64::from(numbers.plain != read);
        numbers.plain = read + 1;
    }

    fn write_fenced(&mut self, lock: usize, token: u64, read: u64) {
        if !self.admits(lock, token) {
            return;
        }
        let numbers = &mut self.numbers[lock];
        if numbers.fenced != read {
            self.updates.lost_with_fence += 1;
            let story = format!(
                "token {token} of lock {lock} read {read}, and wrote over {}",
                numbers.fenced
            );
            self.updates.stories.push(story);
        }
        numbers.fenced = read + 1;
    }

    fn admits(&mut self, lock: usize, token: u64) -> bool {
        let numbers = &mut self.numbers[lock];
        let admits = token >= numbers.fence;
        numbers.fence = numbers.fence.max(token);
        self.updates.refused += u64::from(!admits);
        admits
    }
}

#[cfg(test)]
mod tests {
    use super::State;

    fn state() -> State {
        State {
            numbers: vec![super::Numbers::default()],
            ..State::default()
        }
    }

    fn ask(state: &mut State, line: &str) -> String {
        state.answer(line).expect("a line that is understood")
    }

    #[test]
    fn an_update_that_is_written_over_is_lost() {
        let mut state = state();
        assert_eq!(ask(&mut state, "r 0 7"), "0 0\n");
        assert_eq!(ask(&mut state, "r 0 7"), "0 0\n");
        assert_eq!(ask(&mut state, "w 0 7 0 0"), "ok\n");
        assert_eq!(ask(&mut state, "w 0 7 0 0"), "ok\n");
        assert_eq!(state.updates.lost_without_fence, 1);
        assert_eq!(state.updates.lost_with_fence, 1);
        assert_eq!(state.updates.stories.len(), 1);
    }

    #[test]
    fn a_fence_refuses_whom_somebody_has_overtaken() {
        let mut state = state();
        assert_eq!(ask(&mut state, "r 0 7"), "0 0\n");
        assert_eq!(ask(&mut state, "r 0 8"), "0 0\n");
        ask(&mut state, "w 0 8 0 0");
        ask(&mut state, "w 0 7 0 0");
        assert_eq!(ask(&mut state, "r 0 7"), "1 -\n");
        assert_eq!(state.updates.lost_without_fence, 1);
        assert_eq!(state.updates.lost_with_fence, 0);
        assert_eq!(state.updates.refused, 2);
        assert_eq!(state.answer("r 0"), Some("1 -\n".to_owned()));
        assert_eq!(state.answer("w"), None);
    }
}
