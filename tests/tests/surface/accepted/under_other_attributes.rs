use dlock::testing::Scope;
use dlock::{Error, distributed_lock};
use tracing::instrument;

/// Documented.
#[instrument]
#[distributed_lock(key = "order:{order_id}")]
#[allow(dead_code, reason = "an attribute of the function's own")]
async fn inside(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

#[distributed_lock(key = "order:{order_id}")]
#[instrument(err)]
#[cfg(not(windows))]
pub(crate) async fn outside(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

#[tokio::test]
async fn accepted() -> Result<(), Error> {
    let scope = Scope::memory().await?;
    scope
        .run(async {
            assert_eq!(inside(1).await?, 1);
            assert_eq!(outside(2).await?, 2);
            Ok(())
        })
        .await
}
