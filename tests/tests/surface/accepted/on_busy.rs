use dlock::testing::Scope;
use dlock::{Error, distributed_lock};

#[distributed_lock(key = "job", wait = "none", on_busy = ())]
async fn job() {}

#[distributed_lock(key = "job", wait = "none", on_busy = None)]
async fn maybe() -> Option<u64> {
    Some(7)
}

#[distributed_lock(key = "job", wait = "none", on_busy = Ok(name.len()))]
async fn result(name: String) -> Result<usize, Error> {
    drop(name);
    Ok(0)
}

#[tokio::test]
async fn accepted() -> Result<(), Error> {
    let scope = Scope::memory().await?;
    scope
        .run(async {
            job().await;
            assert_eq!(maybe().await, Some(7));
            let held = scope.client().rw_lock("job")?.write().await?;
            job().await;
            assert_eq!(maybe().await, None);
            assert_eq!(result("four".to_owned()).await?, 4);
            held.release().await?;
            Ok(())
        })
        .await
}
