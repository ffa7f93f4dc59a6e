//! Clients that use one lock all the time.

use std::{sync::Arc, time::Duration};

use dlock::{Error, RwLock};
use dlock_tests::{Mode, builder, scaled};
use tokio::{
    sync::watch,
    task::JoinSet,
    time::{Instant, sleep},
};

use crate::observer::Observer;

/// The lock that all use.
pub(crate) const NAME: &str = "moving";

/// How one client uses the lock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Use {
    pub(crate) mode: Mode,
    /// Under an owner of its own, which enters again while it holds.
    pub(crate) owned: bool,
}

pub(crate) const WRITER: Use = Use {
    mode: Mode::Write,
    owned: false,
};
pub(crate) const READER: Use = Use {
    mode: Mode::Read,
    owned: false,
};

/// Long enough for every waiter.
const PATIENT: Duration = Duration::from_secs(20);
/// Too short now and then.
const IMPATIENT: Duration = Duration::from_millis(15);

/// The clients, each a process of its own as far as the lock can tell.
#[derive(Debug)]
pub(crate) struct Load {
    stop: watch::Sender<bool>,
    tasks: JoinSet<()>,
}

impl Load {
    pub(crate) async fn start(
        url: &str,
        prefix: &str,
        uses: [Use; 6],
        observer: &Arc<Observer>,
    ) -> Self {
        let (stop, _) = watch::channel(false);
        let mut tasks = JoinSet::new();
        for (number, how) in uses.into_iter().enumerate() {
            // No hold comes near the end of its lease, so each one that is lost was never there.
            let lease = scaled(Duration::from_secs(6));
            let client = builder(url, prefix)
                .lease(lease)
                .client_name(format!("c{number}"))
                .build();
            let client = client.await.expect("the cluster is up");
            let lock = client.rw_lock(NAME).expect("a valid name");
            let lock = if how.owned {
                lock.owner(format!("owner-{number}"))
            } else {
                lock
            };
            let (observer, stop) = (Arc::clone(observer), stop.subscribe());
            tasks.spawn(async move {
                while !*stop.borrow() {
                    hold_once(&lock, how, &observer).await;
                }
                client.shutdown().await.expect("nothing is held");
            });
        }
        Self { stop, tasks }
    }

    /// Lets all clients finish their work.
    pub(crate) async fn stop(self) {
        self.stop.send_replace(true);
        self.tasks.join_all().await;
    }
}

async fn hold_once(lock: &RwLock, how: Use, observer: &Observer) {
    let patience = if fastrand::u8(..) < 8 {
        IMPATIENT
    } else {
        scaled(PATIENT)
    };
    let work = Duration::from_micros(fastrand::u64(200..1500));
    let asked = Instant::now();
    let outcome = match how.mode {
        Mode::Read => match lock.read_timeout(patience).await {
            Ok(guard) => {
                let mut belief =
                    observer.granted(NAME, how.mode, Some(guard.fencing_token().as_u64()));
                enter_again(lock, how, observer).await;
                let held = observer.hold(&mut belief, work, || guard.check()).await;
                observer.ends(&belief, held.is_ok());
                held.and(guard.release().await)
            }
            Err(error) => return not_granted(&error, asked, patience, observer),
        },
        Mode::Write => match lock.write_timeout(patience).await {
            Ok(guard) => {
                let mut belief =
                    observer.granted(NAME, how.mode, Some(guard.fencing_token().as_u64()));
                enter_again(lock, how, observer).await;
                let held = observer.hold(&mut belief, work, || guard.check()).await;
                observer.ends(&belief, held.is_ok());
                held.and(guard.release().await)
            }
            Err(error) => return not_granted(&error, asked, patience, observer),
        },
    };
    if let Err(error) = outcome {
        observer.fault(format!("{:?} {:?}: {error}", how.mode, error.kind()));
        // Errors that come at once are not to fill the memory.
        sleep(Duration::from_millis(1)).await;
    }
}

/// A waiter: the holder would wait for itself otherwise.
async fn enter_again(lock: &RwLock, how: Use, observer: &Observer) {
    if !how.owned {
        return;
    }
    let outcome = match lock.read_timeout(scaled(PATIENT)).await {
        Ok(guard) => guard.release().await,
        Err(error) => Err(error),
    };
    if let Err(error) = outcome {
        observer.fault(format!("entering again {:?}: {error}", error.kind()));
    }
}

/// The caller's own patience is all that may end its wait, and not before it is over.
fn not_granted(error: &Error, asked: Instant, patience: Duration, observer: &Observer) {
    let waited = asked.elapsed();
    let kind = error.kind();
    // On a busy machine its time may be up before it has asked even once.
    if error.is_timeout() && waited >= patience && patience == IMPATIENT {
        observer.timed_out();
    } else {
        observer.fault(format!(
            "not granted after {waited:?} of {patience:?}: {kind:?} {error}"
        ));
    }
}
