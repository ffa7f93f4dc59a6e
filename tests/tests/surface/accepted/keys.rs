use dlock::testing::Scope;
use dlock::{Error, distributed_lock};

#[distributed_lock(keys = ["account:{from}", "account:{to}"], guard = locks)]
async fn transfer(from: u64, to: u64) -> Result<Vec<String>, Error> {
    Ok(locks
        .iter()
        .map(|lock| lock.key().name().to_owned())
        .collect())
}

#[distributed_lock(keys = ids.iter().map(|id| format!("account:{id}")))]
async fn close(ids: &[u64]) -> Result<usize, Error> {
    Ok(ids.len())
}

#[tokio::test]
async fn accepted() -> Result<(), Error> {
    let scope = Scope::memory().await?;
    scope
        .run(async {
            assert_eq!(transfer(9, 1).await?, ["account:9", "account:1"]);
            assert_eq!(transfer(1, 1).await?.len(), 2);
            assert_eq!(close(&[3, 1, 2]).await?, 3);
            Ok(())
        })
        .await
}
