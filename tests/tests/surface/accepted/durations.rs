use dlock::testing::Scope;
use std::time::Duration;

use dlock::{Error, distributed_lock};

const LEASE: Duration = Duration::from_secs(3);

#[distributed_lock(key = "a", lease = "30s", wait = "250ms", max_hold = "5m")]
async fn literals() -> Result<(), Error> {
    Ok(())
}

#[distributed_lock(key = "b", lease = LEASE, wait = wait, max_hold = LEASE * 2)]
async fn expressions(wait: Duration) -> Result<(), Error> {
    Ok(())
}

#[tokio::test]
async fn accepted() -> Result<(), Error> {
    let scope = Scope::memory().await?;
    scope
        .run(async {
            literals().await?;
            expressions(Duration::ZERO).await?;
            Ok(())
        })
        .await
}
