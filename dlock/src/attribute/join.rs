//! Waiting for several things at once.

use std::future::poll_fn;
use std::task::Poll;

/// Runs `futures` side by side; their outputs, in their order.
pub(super) async fn join_all<F: Future>(futures: impl IntoIterator<Item = F>) -> Vec<F::Output> {
    let mut running: Vec<_> = futures
        .into_iter()
        .map(|future| (Box::pin(future), None))
        .collect();
    poll_fn(|cx| {
        let mut done = Poll::Ready(());
        for (future, output) in &mut running {
            if output.is_none() {
                match future.as_mut().poll(cx) {
                    Poll::Ready(ready) => *output = Some(ready),
                    Poll::Pending => done = Poll::Pending,
                }
            }
        }
        done
    })
    .await;
    running
        .into_iter()
        .filter_map(|(_, output)| output)
        .collect()
}
