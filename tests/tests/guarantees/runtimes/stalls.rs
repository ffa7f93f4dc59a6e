//! A client whose runtime stands still now and then.

use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use dlock::{Client, RwLock};
use dlock_tests::{builder, scaled, shared_server, unique_prefix};
use tokio::runtime::Runtime;

use super::{SHORT, SOON, one_thread};

/// How long the runtime runs between two looks.
const RUN: Duration = Duration::from_millis(300);
/// Shorter than what a driver is waited for, and more than a request takes.
const PAUSE: Duration = Duration::from_millis(40);

/// A client on a runtime of one thread, and a thread that asks it something whenever it is told to.
struct Site {
    home: Runtime,
    client: Client,
    ask: mpsc::Sender<()>,
    answered: mpsc::Receiver<()>,
}

impl Site {
    fn start() -> Self {
        let home = one_thread();
        let client = home.block_on(async {
            let url = shared_server().await.url();
            builder(&url, &unique_prefix()).build().await
        });
        let client = client.expect("the server is there");
        let lock = client.rw_lock("asked").expect("a valid name");
        let (ask, asked) = mpsc::channel();
        let (answers, answered) = mpsc::channel();
        thread::spawn(move || {
            let runtime = one_thread();
            while asked.recv().is_ok() {
                runtime.block_on(inspect(&lock));
                if answers.send(()).is_err() {
                    return;
                }
            }
        });
        Self {
            home,
            client,
            ask,
            answered,
        }
    }

    /// Whether requests are answered although the client's runtime stands still for so long.
    fn is_answered_in(&self, stall: Duration) -> bool {
        self.home.block_on(async {
            self.ask.send(()).expect("the thread runs");
            let answered = self.answered.recv_timeout(stall).is_ok();
            if !answered {
                while self.answered.try_recv().is_err() {
                    tokio::task::yield_now().await;
                }
            }
            answered
        })
    }

    /// Waits until the connection is driven by the client's runtime, which runs meanwhile.
    fn comes_home(&self) {
        let deadline = Instant::now() + scaled(SOON);
        while self.is_answered_in(PAUSE) {
            assert!(Instant::now() < deadline, "it stays away");
            let running = async { tokio::time::sleep(RUN).await };
            self.home.block_on(running);
        }
    }
}

async fn inspect(lock: &RwLock) {
    lock.inspect().await.expect("answered");
}

#[test]
fn a_client_comes_home_when_its_runtime_runs_again() {
    let site = Site::start();
    assert!(!site.is_answered_in(PAUSE), "it begins there");
    assert!(site.is_answered_in(scaled(SOON)), "it leaves");
    assert!(site.is_answered_in(PAUSE), "and has left");
    site.comes_home();
    // Holds are renewed during the next stall all the same.
    site.home.block_on(async {
        let lock = site.client.rw_lock("held").expect("a valid name");
        let guard = lock.lease(SHORT).write().await.expect("free");
        thread::sleep(2 * SHORT);
        guard.check().expect("renewed");
        guard.release().await.expect("held to the end");
    });
    site.comes_home();
}
