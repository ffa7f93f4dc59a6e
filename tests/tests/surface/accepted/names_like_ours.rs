use dlock::testing::Scope;
use dlock::{Error, distributed_lock};

#[distributed_lock(key = "{request}:{grant}", guard = held)]
async fn odd(request: u64, grant: u64, error: u64) -> Result<u64, Error> {
    let (output, run, lock) = (request, grant, held.fencing_token());
    Ok(output + run + error + lock.as_u64().min(1))
}

#[tokio::test]
async fn accepted() -> Result<(), Error> {
    let scope = Scope::memory().await?;
    scope
        .run(async {
            assert_eq!(odd(1, 2, 3).await?, 7);
            Ok(())
        })
        .await
}
