//! Clients that use locks of one slot all the time, in loads of several shapes.

use std::{sync::Arc, time::Duration};

use dlock::{Client, Error, LockKind};
use dlock_load::{DlockGuard, Handle, Patience};
use dlock_tests::{builder, history::Belief, scaled, unique_prefix, wait_free};
use tokio::{
    sync::watch,
    task::JoinSet,
    time::{Instant, sleep},
};

use crate::observer::Observer;

/// What all names begin with, so that all locks are in one slot.
pub(crate) const TAG: &str = "{moving}";
/// No hold comes near the end of its lease, so each one that is lost was never there. It outlasts a write pause of the
/// servers, as these tests set it, and the time until the next renewal.
const LEASE: Duration = Duration::from_secs(6);
/// Long enough for every waiter.
const PATIENT: Duration = Duration::from_secs(30);
/// Too short now and then, and yet long enough for a server that has to be sent the script's text again.
const IMPATIENT: Duration = Duration::from_millis(15);
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
    /// One lock, one writer and five readers.
    OneWriter,
    /// One lock, which three tasks of each client read and write, so that clients pass it on among their tasks.
    Processes,
    /// One lock. A writer and two readers are owners, which enter again while they hold; a writer and two readers are not.
    Owners,
    /// A mutex with tokens, and one without.
    Mutexes,
    /// Twenty locks with six waiters each, and as many tasks behind them in each client.
    Crowd,
}

impl Shape {
    fn tasks_of_a_client(self) -> usize {
        match self {
            Self::Writers | Self::Readers | Self::OneWriter | Self::Owners => 1,
            Self::Mutexes => 2,
            Self::Processes => 3,
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

    fn writes(self, client: usize, task: usize) -> bool {
        match self {
            Self::Readers => client <= 1,
            Self::OneWriter => client == 0,
            Self::Processes => (client + task).is_multiple_of(2),
            Self::Owners => matches!(client, 0 | 3),
            Self::Quiet | Self::Writers | Self::Mutexes | Self::Crowd => true,
        }
    }

    fn kind(self, task: usize) -> LockKind {
        match (self, task) {
            (Self::Mutexes, 0) => LockKind::FencedMutex,
            (Self::Mutexes, _) => LockKind::Mutex,
            _ => LockKind::Rw,
        }
    }

    fn lock(self, client: usize, task: usize) -> usize {
        match self {
            Self::Quiet => client * self.tasks_of_a_client() + task,
            Self::Crowd => fastrand::usize(..self.locks()),
            Self::Processes => 0,
            _ => task,
        }
    }

    fn locks(self) -> usize {
        match self {
            Self::Quiet => CLIENTS * self.tasks_of_a_client(),
            Self::Processes => 1,
            _ => self.tasks_of_a_client(),
        }
    }
}

/// How long callers wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waits {
    /// Until their turn comes.
    Long,
    /// Now and then a caller gives up soon. Its error says that it waited only if its client is connected to all nodes.
    Mixed,
}

/// The clients of a shape, each a process of its own as far as the lock can tell.
#[derive(Debug)]
pub(crate) struct Load {
    shape: Shape,
    stop: watch::Sender<bool>,
    tasks: JoinSet<()>,
    clients: Vec<Client>,
}

impl Load {
    pub(crate) async fn start(
        url: &str,
        (shape, waits): (Shape, Waits),
        observer: &Arc<Observer>,
    ) -> Self {
        let (stop, _) = watch::channel(false);
        let (mut tasks, mut clients) = (JoinSet::new(), Vec::new());
        let prefix = unique_prefix();
        for number in 0..CLIENTS {
            let client = builder(url, &prefix)
                .lease(scaled(LEASE))
                .client_name(format!("c{number}"))
                .build();
            let client = client.await.expect("the cluster is up");
            for task in 0..shape.tasks_of_a_client() {
                let user = User {
                    client: client.clone(),
                    shape,
                    waits,
                    number,
                    task,
                    observer: Arc::clone(observer),
                };
                let stop = stop.subscribe();
                tasks.spawn(async move {
                    while !*stop.borrow() {
                        user.use_once().await;
                    }
                });
            }
            clients.push(client);
        }
        Self {
            shape,
            stop,
            tasks,
            clients,
        }
    }

    /// Lets all clients finish their work, and sees that they leave neither holds nor waiters behind.
    pub(crate) async fn stop(self) {
        self.stop.send_replace(true);
        self.tasks.join_all().await;
        if self.shape != Shape::Mutexes {
            for number in 0..self.shape.locks() {
                let lock = self.clients[0].rw_lock(format!("{TAG}{number}"));
                wait_free(&lock.expect("a valid name")).await;
            }
        }
        for client in self.clients {
            client.shutdown().await.expect("nothing is held");
        }
    }
}

/// A task of a client.
struct User {
    client: Client,
    shape: Shape,
    waits: Waits,
    number: usize,
    task: usize,
    observer: Arc<Observer>,
}

impl User {
    /// One hold.
    async fn use_once(&self) {
        let (observer, asked) = (&self.observer, Instant::now());
        let number = self.shape.lock(self.number, self.task);
        let name = format!("{TAG}{number}");
        let impatient = scaled(IMPATIENT);
        let patience = match self.waits {
            Waits::Mixed if fastrand::u8(..) < 8 => impatient,
            Waits::Mixed | Waits::Long => scaled(PATIENT),
        };
        let lock = (self.shape.kind(self.task), name.clone());
        let lock = Handle::new(&self.client, lock, self.owner(), None).expect("a valid name");
        let writes = self.shape.writes(self.number, self.task);
        let outcome = match lock.ask(writes, within(patience)).await {
            Ok(guard) => {
                let guard = guard.expect("it waits");
                let belief = observer.granted(number, writes, &guard);
                self.hold(&lock, &belief, guard).await
            }
            // The caller's own patience is all that may end its wait, and not before it is over. On a busy machine it may be
            // over before the caller has asked even once.
            Err(error)
                if error.is_timeout() && patience == impatient && asked.elapsed() >= patience =>
            {
                return observer.timed_out();
            }
            Err(error) => Err(error),
        };
        if let Err(error) = outcome {
            let (after, kind) = (asked.elapsed(), error.kind());
            observer.fault(format!(
                "{name} after {after:?} of {patience:?}: {kind:?}: {error}"
            ));
            // Errors that come at once are not to fill the memory.
            sleep(Duration::from_millis(1)).await;
        }
    }

    async fn hold(
        &self,
        lock: &Handle,
        belief: &Belief<'_>,
        guard: DlockGuard,
    ) -> Result<(), Error> {
        let again = match self.owner() {
            Some(_) => enter_again(lock).await,
            None => Ok(()),
        };
        let work = self.shape.work();
        let held = self.observer.hold(belief, work, &guard).await;
        again.and(held).and(guard.release().await)
    }

    fn owner(&self) -> Option<usize> {
        (self.shape == Shape::Owners && self.number < 3).then_some(self.number)
    }
}

/// The holder waits as others do, and not for itself.
async fn enter_again(lock: &Handle) -> Result<(), Error> {
    let guard = lock.ask(false, within(scaled(PATIENT))).await?;
    guard.expect("it waits").release().await
}

fn within(patience: Duration) -> Patience {
    Patience::For(u64::try_from(patience.as_nanos()).expect("a short time"))
}
