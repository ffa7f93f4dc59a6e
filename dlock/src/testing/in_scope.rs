//! Futures inside a scope.

use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

use super::Scope;

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
    pub(super) fn new(scope: Option<Scope>, future: F) -> Self {
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
