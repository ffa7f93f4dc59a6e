use dlock::testing::Scope;
use dlock::{Error, distributed_lock};

#[distributed_lock(key = "a", wait = "none")]
async fn at_once() -> Result<(), Error> {
    Ok(())
}

#[distributed_lock(key = "a", wait = "forever")]
async fn patient() -> Result<(), Error> {
    Ok(())
}

#[distributed_lock(key = "a", wait = "0s")]
async fn zero() -> Result<(), Error> {
    Ok(())
}

#[tokio::test]
async fn accepted() -> Result<(), Error> {
    let scope = Scope::memory().await?;
    scope
        .run(async {
            at_once().await?;
            patient().await?;
            zero().await?;
            Ok(())
        })
        .await
}
