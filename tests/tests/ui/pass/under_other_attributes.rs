use dlock::{Client, Error, distributed_lock};
use tracing::instrument;

/// Documented.
#[instrument]
#[distributed_lock(key = "order:{order_id}")]
#[must_use]
async fn inside(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

#[distributed_lock(key = "order:{order_id}")]
#[instrument(err)]
#[cfg(not(windows))]
pub(crate) async fn outside(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    dlock::install(Client::connect("memory://").await?);
    assert_eq!(inside(1).await?, 1);
    assert_eq!(outside(2).await?, 2);
    Ok(())
}
