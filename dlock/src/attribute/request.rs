//! A request is what one call of an annotated function asks for, and of which client.

use std::fmt::Display;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::FutureExt;

use super::context::reenter;
use super::owned::{Owned, OwnedLocks};
use super::take::{Wanted, take_all};
use super::{CallGuard, Grant};
use crate::lock::Wait;
use crate::testing;
use crate::{Client, Error, LockKind, LockMode};

/// Locks to take, as the arguments of the attribute say. `N` says whether one or several.
#[derive(Debug)]
#[must_use]
pub struct Request<N> {
    names: N,
    client: Option<Client>,
    wanted: Wanted,
}

/// The name and the metric label of `key = ..`.
#[derive(Debug)]
pub struct One(String, &'static str);

/// The names and the metric labels of `keys = ..`.
#[derive(Debug)]
pub struct Several(Vec<(String, &'static str)>);

/// Waits on this thread, also on one that must not wait if there is nothing to wait for.
fn wait<T>(
    home: &Client,
    entered: bool,
    taking: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    let mut taking = pin!(taking);
    if entered && let Some(taken) = taking.as_mut().now_or_never() {
        return taken;
    }
    home.wait(taking)?
}

/// One element of `keys = [..]`.
pub fn name(key: &(impl Display + ?Sized), label: &'static str) -> (String, &'static str) {
    (key.to_string(), label)
}

impl Request<One> {
    /// `key = ..`
    pub fn new(name: &(impl Display + ?Sized), label: &'static str, mode: LockMode) -> Self {
        Self::with_names(One(name.to_string(), label), mode)
    }

    /// Waits for the lock.
    ///
    /// # Errors
    ///
    /// Whatever the client reports, and `would_deadlock` when the task reads what it wants to write, or holds as one kind of
    /// mutex what it wants as the other.
    pub async fn acquire(mut self) -> Result<Grant, Error> {
        let client = self.resolve_client()?;
        // Boxed, as the futures of nested calls lie in one another.
        Box::pin(self.take(client)).await
    }

    /// Waits for the lock on this thread.
    ///
    /// # Errors
    ///
    /// As [`acquire`](Self::acquire), and `would_deadlock` on a thread that must not wait.
    pub fn acquire_blocking(mut self) -> Result<Grant, Error> {
        let client = self.resolve_client()?;
        let home = client.clone();
        let entered = self.wanted.enters(&client, [self.names.0.as_str()]);
        wait(&home, entered, self.take(client))
    }

    /// Takes apart what is asked for before there is a future, which would keep the whole and its parts: it is moved about.
    fn take(self, client: Client) -> impl Future<Output = Result<Grant, Error>> {
        let Self {
            names: One(name, label),
            wanted,
            ..
        } = self;
        async move {
            let lock = wanted.lock(&client, &name, label)?;
            let again = reenter(&client, lock.key(), wanted.mode)?;
            let (held, owned) = if let Some(again) = again {
                (again, OwnedLocks::default())
            } else {
                let share = wanted.take(&lock, wanted.wait).await?;
                let taken = Owned::new(&client, share, None);
                (taken.held().clone(), taken.into())
            };
            testing::note(&name, label, wanted.kind, wanted.mode);
            let innermost = Some(held.clone());
            Ok(Grant::new(held, innermost, owned, client, wanted.cancel))
        }
    }
}

impl Request<Several> {
    /// `keys = ..`
    pub fn all<const N: usize>(names: [(String, &'static str); N], mode: LockMode) -> Self {
        Self::with_names(Several(names.into()), mode)
    }

    /// `keys = some_expression`
    pub fn each(
        names: impl IntoIterator<Item: Display>,
        label: &'static str,
        mode: LockMode,
    ) -> Self {
        let names = names.into_iter().map(|key| name(&key, label)).collect();
        Self::with_names(Several(names), mode)
    }

    /// Waits until all the locks are had; until then, and after an error, none is kept.
    ///
    /// # Errors
    ///
    /// As for [one lock](Request::acquire).
    pub async fn acquire(mut self) -> Result<Grant<Vec<CallGuard>>, Error> {
        let client = self.resolve_client()?;
        Box::pin(take_all(client, self.names.0, &self.wanted)).await
    }

    /// Waits for all the locks on this thread.
    ///
    /// # Errors
    ///
    /// As for [one lock](Request::acquire_blocking).
    pub fn acquire_blocking(mut self) -> Result<Grant<Vec<CallGuard>>, Error> {
        let client = self.resolve_client()?;
        let home = client.clone();
        let names = self.names.0.iter().map(|(name, _)| name.as_str());
        let entered = self.wanted.enters(&client, names);
        wait(&home, entered, take_all(client, self.names.0, &self.wanted))
    }
}

impl<N> Request<N> {
    /// A request to the client in scope, which waits for ever.
    fn with_names(names: N, mode: LockMode) -> Self {
        Self {
            names,
            client: None,
            wanted: Wanted {
                kind: LockKind::Rw,
                mode,
                lease: None,
                max_hold: None,
                min_hold: None,
                linger: None,
                wait: Wait::Forever,
                cancel: true,
            },
        }
    }

    fn resolve_client(&mut self) -> Result<Client, Error> {
        match self.client.take() {
            Some(client) => Ok(client),
            None => testing::client_in_scope().map_or_else(crate::installed, Ok),
        }
    }

    /// `lock = ..`
    pub fn kind(mut self, kind: LockKind) -> Self {
        self.wanted.kind = kind;
        self
    }

    /// `client = ..`
    pub fn client(mut self, client: &(impl AsClient + ?Sized)) -> Self {
        self.client = Some(client.as_client().clone());
        self
    }

    /// `lease = ..`
    pub fn lease(mut self, lease: Duration) -> Self {
        self.wanted.lease = Some(lease);
        self
    }

    /// `max_hold = ..`
    pub fn max_hold(mut self, max_hold: Duration) -> Self {
        self.wanted.max_hold = Some(max_hold);
        self
    }

    /// `min_hold = ..`
    pub fn min_hold(mut self, min_hold: Duration) -> Self {
        self.wanted.min_hold = Some(min_hold);
        self
    }

    /// `linger = ..`
    pub fn linger(mut self, linger: Duration) -> Self {
        self.wanted.linger = Some(linger);
        self
    }

    /// `wait = "5s"`
    pub fn wait(mut self, wait: Duration) -> Self {
        self.wanted.wait = Wait::For(wait);
        self
    }

    /// `wait = "none"`
    pub fn try_once(mut self) -> Self {
        self.wanted.wait = Wait::No;
        self
    }

    /// `wait = "forever"`
    pub fn wait_forever(mut self) -> Self {
        self.wanted.wait = Wait::Forever;
        self
    }

    /// `on_lost = "continue"`
    pub fn continue_when_lost(mut self) -> Self {
        self.wanted.cancel = false;
        self
    }
}

/// What `client = ..` may evaluate to: a client, or something that points to or holds one.
#[diagnostic::on_unimplemented(
    message = "`client` has to be a `dlock::Client`, not `{Self}`",
    label = "not a `dlock::Client`",
    note = "a reference, an `Arc`, a `Box` or an `Rc` of a client will do as well"
)]
pub trait AsClient {
    /// The client itself.
    fn as_client(&self) -> &Client;
}

impl AsClient for Client {
    fn as_client(&self) -> &Client {
        self
    }
}

macro_rules! points_to_client {
    ($($pointer:ty,)*) => {
        $(
            impl<T: AsClient + ?Sized> AsClient for $pointer {
                fn as_client(&self) -> &Client {
                    (**self).as_client()
                }
            }
        )*
    };
}

points_to_client! { &T, &mut T, Arc<T>, Box<T>, Rc<T>, }
