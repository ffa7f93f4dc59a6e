//! Loads on locks of one slot, each of another shape.

use std::{sync::Arc, time::Duration};

use dlock::{Client, Error};
use dlock_tests::{Mode, builder, scaled, unique_prefix};
use tokio::{
    sync::watch,
    task::JoinSet,
    time::{Instant, sleep},
};

use crate::{held::Held, observer::Observer};

/// What all names begin with, so that all locks are in one slot.
pub(crate) const TAG: &str = "{moving}";
/// No hold comes near the end of its lease, so each one that is lost was never there. It outlasts a write pause of the
/// servers, as these tests set it, and the time until the next renewal.
const LEASE: Duration = Duration::from_secs(6);
/// Long enough for every waiter.
const PATIENT: Duration = Duration::from_secs(30);
const CLIENTS: usize = 6;

/// The clients and their locks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Locks that one task each holds for most of a lease, so that they are renewed while the slot moves.
    Quiet,
    /// One lock, six writers.
    Writers,
    /// One lock, two writers and four readers.
    Readers,
    /// A mutex with tokens, and one without.
    Mutexes,
    /// Twenty locks with six waiters each, and as many tasks behind them in each client.
    Crowd,
}

impl Shape {
    fn tasks_of_a_client(self) -> usize {
        match self {
            Self::Writers | Self::Readers => 1,
            Self::Mutexes => 2,
            Self::Quiet => 4,
            Self::Crowd => 20,
        }
    }

    fn work(self) -> Duration {
        match self {
            // Two renewals.
            Self::Quiet => scaled(LEASE).mul_f64(0.8),
            _ => Duration::from_micros(fastrand::u64(200..1500)),
        }
    }
}

/// Its clients, each a process of its own as far as the lock can tell.
#[derive(Debug)]
pub(crate) struct Load {
    stop: watch::Sender<bool>,
    tasks: JoinSet<()>,
}

impl Load {
    pub(crate) async fn start(url: &str, shape: Shape, observer: &Arc<Observer>) -> Self {
        let (stop, _) = watch::channel(false);
        let mut tasks = JoinSet::new();
        let prefix = unique_prefix();
        for client_number in 0..CLIENTS {
            let client = builder(url, &prefix)
                .lease(scaled(LEASE))
                .client_name(format!("c{client_number}"))
                .build();
            let client = client.await.expect("the cluster is up");
            for task in 0..shape.tasks_of_a_client() {
                let (client, observer) = (client.clone(), Arc::clone(observer));
                let stop = stop.subscribe();
                tasks.spawn(async move {
                    while !*stop.borrow() {
                        once(&client, shape, client_number, task, &observer).await;
                    }
                });
            }
        }
        Self { stop, tasks }
    }

    /// Lets all clients finish their work.
    pub(crate) async fn stop(self) {
        self.stop.send_replace(true);
        self.tasks.join_all().await;
    }
}

/// One hold of one task.
async fn once(client: &Client, shape: Shape, number: usize, task: usize, observer: &Observer) {
    let patience = scaled(PATIENT);
    let (work, asked) = (shape.work(), Instant::now());
    let name = match shape {
        Shape::Quiet => format!("{TAG}{number}:{task}"),
        Shape::Crowd => format!("{TAG}{}", fastrand::usize(..20)),
        Shape::Writers | Shape::Readers | Shape::Mutexes => format!("{TAG}{task}"),
    };
    let outcome = if shape == Shape::Mutexes {
        let mutex = client.mutex(&name).expect("a valid name");
        if task == 0 {
            let mutex = mutex.fenced().expect("one slot");
            hold(
                mutex.lock_timeout(patience).await,
                &name,
                Mode::Write,
                work,
                observer,
            )
            .await
        } else {
            hold(
                mutex.lock_timeout(patience).await,
                &name,
                Mode::Write,
                work,
                observer,
            )
            .await
        }
    } else {
        let lock = client.rw_lock(&name).expect("a valid name");
        if shape == Shape::Readers && number > 1 {
            hold(
                lock.read_timeout(patience).await,
                &name,
                Mode::Read,
                work,
                observer,
            )
            .await
        } else {
            hold(
                lock.write_timeout(patience).await,
                &name,
                Mode::Write,
                work,
                observer,
            )
            .await
        }
    };
    if let Err(error) = outcome {
        let after = asked.elapsed();
        observer.fault(format!(
            "{name} after {after:?}: {:?}: {error}",
            error.kind()
        ));
        // Errors that come at once are not to fill the memory.
        sleep(Duration::from_millis(1)).await;
    }
}

async fn hold<G: Held>(
    granted: Result<G, Error>,
    name: &str,
    mode: Mode,
    work: Duration,
    observer: &Observer,
) -> Result<(), Error> {
    let guard = granted?;
    let mut belief = observer.granted(name, mode, guard.token());
    let held = observer.hold(&mut belief, work, || guard.check()).await;
    observer.ends(&belief, held.is_ok());
    held.and(guard.release().await)
}
