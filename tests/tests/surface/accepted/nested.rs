use dlock::testing::Scope;
use dlock::{Error, distributed_lock};

#[distributed_lock(key = "a")]
async fn outer() -> Result<u64, Error> {
    let lock = dlock::current().expect("held");
    let inner = inner().await?;
    assert_eq!(lock.fencing_token().as_u64(), inner);
    Ok(inner)
}

#[distributed_lock(key = "a", mode = "read", guard = lock)]
async fn inner() -> Result<u64, Error> {
    Ok(lock.fencing_token().as_u64())
}

#[tokio::test]
async fn accepted() -> Result<(), Error> {
    let scope = Scope::memory().await?;
    scope
        .run(async {
            outer().await?;
            assert!(dlock::current().is_none());
            Ok(())
        })
        .await
}
