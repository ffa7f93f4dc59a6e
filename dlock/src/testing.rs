//! Unit tests of annotated functions: without Redis, side by side, and with a look at what they locked.
//!
//! A [`Scope`] lends its client to the annotated functions that run inside it and writes down which
//! locks they took. Two tests with a scope each do not notice one another, whatever keys they use and
//! whatever client is installed.

use std::cell::RefCell;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use parking_lot::Mutex;
use pin_project_lite::pin_project;

use crate::{Client, Error, LockKind, LockMode};

thread_local! {
    static CURRENT: RefCell<Option<Scope>> = const { RefCell::new(None) };
}

/// Lends a client to the annotated functions that run inside it, and writes down what they lock.
///
/// It goes before an installed client; a `client = ..` of the attribute goes before it. It belongs to
/// the task: what the code under test spawns joins it by [`carry`], and where there is no future, by
/// [`current`](Self::current).
///
/// ```
/// use dlock::testing::Scope;
/// use dlock::{Error, LockMode, distributed_lock};
///
/// #[distributed_lock(key = "order:{order_id}")]
/// async fn ship(order_id: u64) -> Result<u64, Error> {
///     Ok(order_id)
/// }
///
/// # /*
/// #[tokio::test]
/// # */
/// async fn shipping_locks_the_order() -> Result<(), Error> {
///     let scope = Scope::memory().await?;
///     assert_eq!(scope.run(ship(42)).await?, 42);
///     scope.assert_took("order:42", LockMode::Write);
///     Ok(())
/// }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Error> {
/// # shipping_locks_the_order().await
/// # }
/// ```
#[derive(Clone)]
pub struct Scope {
    client: Client,
    taken: Arc<Mutex<Vec<Taken>>>,
}

impl Scope {
    /// A scope with a memory store of its own. For functions that are not async, called on the thread of a `#[tokio::test]`,
    /// see [`new`](Self::new).
    ///
    /// # Errors
    ///
    /// None today; as [`Client::connect`].
    ///
    /// # Cancel safety
    ///
    /// Nothing is left behind.
    pub async fn memory() -> Result<Self, Error> {
        Ok(Self::new(Client::connect("memory://").await?))
    }

    /// A scope with this client. In a test of synchronous functions give it a
    /// [`blocking::Client`](crate::blocking::Client).
    ///
    /// ```
    /// # use dlock::testing::Scope;
    /// # use dlock::{Error, LockMode, distributed_lock};
    /// #[distributed_lock(key = "report")]
    /// fn write_report() -> Result<(), Error> {
    ///     Ok(())
    /// }
    ///
    /// # fn main() -> Result<(), Error> {
    /// let scope = Scope::new(dlock::blocking::Client::connect("memory://")?);
    /// scope.run_blocking(write_report)?;
    /// scope.assert_took("report", LockMode::Write);
    /// # Ok(())
    /// # }
    /// ```
    pub fn new(client: impl Into<Client>) -> Self {
        Self {
            client: client.into(),
            taken: Arc::default(),
        }
    }

    /// The client, for instance to hold a lock that the function under test wants.
    #[must_use]
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// The scope in which the caller runs, if it does: for threads and callbacks that the code under test starts.
    ///
    /// ```
    /// # use dlock::testing::Scope;
    /// # use dlock::{Error, LockMode, distributed_lock};
    /// #[distributed_lock(key = "report")]
    /// fn write_report() -> Result<(), Error> {
    ///     Ok(())
    /// }
    ///
    /// # fn main() -> Result<(), Error> {
    /// let scope = Scope::new(dlock::blocking::Client::connect("memory://")?);
    /// scope.run_blocking(|| {
    ///     let scope = Scope::current().expect("this runs in one");
    ///     let thread = std::thread::spawn(move || scope.run_blocking(write_report));
    ///     thread.join().expect("no panic")
    /// })?;
    /// scope.assert_took("report", LockMode::Write);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn current() -> Option<Self> {
        CURRENT.with_borrow(Clone::clone)
    }

    /// Runs `future` inside the scope.
    pub fn run<F: Future>(&self, future: F) -> InScope<F> {
        InScope::new(Some(self.clone()), future)
    }

    /// Runs `body` inside the scope, on this thread.
    pub fn run_blocking<T>(&self, body: impl FnOnce() -> T) -> T {
        let _entered = self.clone().enter();
        body()
    }

    /// What annotated functions locked inside the scope so far, in their order. A lock that was entered
    /// again is listed again.
    #[must_use]
    pub fn taken(&self) -> Vec<Taken> {
        self.list(|taken| taken.clone())
    }

    /// Forgets what was locked so far.
    pub fn clear(&self) {
        self.list(Vec::clear);
    }

    /// Makes sure that an annotated function took the read/write lock called `name`.
    ///
    /// # Panics
    ///
    /// If none did, with a list of what they took instead.
    #[track_caller]
    pub fn assert_took(&self, name: &str, mode: LockMode) {
        let expected = Taken {
            name: name.to_owned(),
            kind: LockKind::Rw,
            mode,
            label: "",
        };
        self.assert_any(&expected, |taken| {
            taken.kind == LockKind::Rw && taken.name == name && taken.mode == mode
        });
    }

    /// Makes sure that an annotated function took the mutex called `name`, with a fencing token or without.
    ///
    /// ```
    /// # use dlock::testing::Scope;
    /// # use dlock::{Error, distributed_lock};
    /// #[distributed_lock(key = "report", lock = "mutex")]
    /// async fn write_report() -> Result<(), Error> {
    ///     Ok(())
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Error> {
    /// let scope = Scope::memory().await?;
    /// scope.run(write_report()).await?;
    /// scope.assert_took_mutex("report");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Panics
    ///
    /// If none did, with a list of what they took instead.
    #[track_caller]
    pub fn assert_took_mutex(&self, name: &str) {
        let expected = format_args!("mutex `{name}`");
        self.assert_any(&expected, |taken| {
            taken.kind.is_mutex() && taken.name == name
        });
    }

    #[track_caller]
    fn assert_any(&self, expected: &dyn fmt::Display, found: impl Fn(&Taken) -> bool) {
        let taken = self.taken();
        if !taken.iter().any(found) {
            let list: Vec<String> = taken.iter().map(ToString::to_string).collect();
            panic!(
                "no annotated function took {expected}; taken were: {}",
                if list.is_empty() {
                    "none".to_owned()
                } else {
                    list.join(", ")
                }
            );
        }
    }

    fn list<T>(&self, look: impl FnOnce(&mut Vec<Taken>) -> T) -> T {
        look(&mut self.taken.lock())
    }

    fn enter(self) -> Entered {
        Entered {
            previous: CURRENT.replace(Some(self)),
        }
    }
}

impl fmt::Debug for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope")
            .field("client", &self.client)
            .field("taken", &self.taken())
            .finish()
    }
}

/// Restores the outer scope, also when a test panics.
struct Entered {
    previous: Option<Scope>,
}

impl Drop for Entered {
    fn drop(&mut self) {
        CURRENT.set(self.previous.take());
    }
}

/// The client of the scope that runs on this thread.
pub(crate) fn client_in_scope() -> Option<Client> {
    CURRENT.with_borrow(|scope| scope.as_ref().map(|scope| scope.client.clone()))
}

/// An annotated function took a lock.
pub(crate) fn note(name: &str, label: &'static str, kind: LockKind, mode: LockMode) {
    CURRENT.with_borrow(|scope| {
        if let Some(scope) = scope {
            let taken = Taken {
                name: name.to_owned(),
                kind,
                mode,
                label,
            };
            scope.list(|all| all.push(taken));
        }
    });
}

/// A lock that an annotated function took inside a [`Scope`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Taken {
    /// The name of the lock: the key with its captures filled in.
    pub name: String,
    /// What kind of lock it is.
    pub kind: LockKind,
    /// What it was asked for: of a mutex always [`Write`](LockMode::Write).
    pub mode: LockMode,
    /// The label of its metrics: the key as written, unless `label = ".."` says otherwise.
    pub label: &'static str,
}

impl fmt::Display for Taken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = &self.name;
        match (self.kind, self.mode) {
            (LockKind::Rw, LockMode::Read) => write!(f, "`{name}` for reading"),
            (LockKind::Rw, LockMode::Write) => write!(f, "`{name}` for writing"),
            (mutex, _) => write!(f, "`{name}` ({mutex})"),
        }
    }
}

pin_project! {
    /// A future inside a [`Scope`], or inside none.
    #[derive(Debug)]
    #[must_use = "futures do nothing unless polled"]
    pub struct InScope<F> {
        scope: Option<Scope>,
        #[pin]
        future: F,
    }
}

impl<F: Future> InScope<F> {
    fn new(scope: Option<Scope>, future: F) -> Self {
        Self { scope, future }
    }
}

impl<F: Future> Future for InScope<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let _entered = this.scope.clone().map(Scope::enter);
        this.future.poll(cx)
    }
}

/// Carries the caller's [`Scope`] into a task that it spawns. Outside of tests, where there is none, the future runs
/// as it is: code that is to be tested can do this always.
///
/// ```
/// use dlock::testing::{Scope, carry};
/// use dlock::{Error, LockMode, distributed_lock};
///
/// #[distributed_lock(key = "order:{order_id}")]
/// async fn ship(order_id: u64) -> Result<u64, Error> {
///     Ok(order_id)
/// }
///
/// async fn ship_all(orders: Vec<u64>) -> Result<(), Error> {
///     let tasks = orders.into_iter().map(|id| tokio::spawn(carry(ship(id))));
///     for task in tasks.collect::<Vec<_>>() {
///         task.await.expect("no panic")?;
///     }
///     Ok(())
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Error> {
/// let scope = Scope::memory().await?;
/// scope.run(ship_all(vec![1, 2])).await?;
/// scope.assert_took("order:2", LockMode::Write);
/// # Ok(())
/// # }
/// ```
pub fn carry<F: Future>(future: F) -> InScope<F> {
    InScope::new(Scope::current(), future)
}
