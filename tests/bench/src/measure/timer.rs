//! Waiting for a precise time, where Tokio's timer knows whole milliseconds only.

use std::{
    cmp::Reverse,
    collections::BinaryHeap,
    num::NonZero,
    sync::mpsc::{RecvTimeoutError, Sender, channel},
    thread,
    time::{Duration, Instant},
};

use tokio::sync::oneshot;

/// The wake-ups of other threads cost about this much, so the thread ends its sleep as much earlier.
const WAKE_UP: Duration = Duration::from_micros(20);

/// A thread that completes futures on time.
#[derive(Clone, Debug)]
pub(crate) struct Timer {
    requests: Sender<Request>,
}

struct Request {
    at: Instant,
    done: oneshot::Sender<()>,
}

impl PartialEq for Request {
    fn eq(&self, other: &Self) -> bool {
        self.at == other.at
    }
}

impl Eq for Request {}

impl PartialOrd for Request {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Request {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.at.cmp(&other.at)
    }
}

impl Timer {
    pub(crate) fn start() -> Self {
        let (requests, received) = channel::<Request>();
        thread::spawn(move || {
            // By default Linux may let every sleep take 50 us longer.
            let _ = rustix::thread::set_current_timer_slack(NonZero::new(1));
            let mut waiting = BinaryHeap::new();
            loop {
                let next: Option<&Reverse<Request>> = waiting.peek();
                let received = match next {
                    None => received.recv().map_err(|_| RecvTimeoutError::Disconnected),
                    Some(Reverse(next)) => {
                        let until = next.at.checked_sub(WAKE_UP).unwrap_or(next.at);
                        received.recv_timeout(until.saturating_duration_since(Instant::now()))
                    }
                };
                match received {
                    Ok(request) => waiting.push(Reverse(request)),
                    Err(RecvTimeoutError::Disconnected) => return,
                    Err(RecvTimeoutError::Timeout) => {
                        if let Some(Reverse(request)) = waiting.pop() {
                            // The waiter may have gone.
                            let _ = request.done.send(());
                        }
                    }
                }
            }
        });
        Self { requests }
    }

    /// Waits this long, give or take some microseconds.
    pub(crate) async fn sleep(&self, duration: Duration) {
        if duration.is_zero() {
            return;
        }
        let (done, wait) = oneshot::channel();
        let at = Instant::now() + duration;
        self.requests
            .send(Request { at, done })
            .expect("the thread lives as long as this");
        wait.await.expect("the thread answers");
    }
}
