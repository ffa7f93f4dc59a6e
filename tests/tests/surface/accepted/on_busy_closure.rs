use dlock::testing::Scope;
use dlock::{Error, distributed_lock};

#[derive(Debug, PartialEq)]
enum Failure {
    Busy,
    Lock(String),
}

#[distributed_lock(
    key = "job",
    wait = "none",
    on_busy = |error| Err(if error.is_busy() { Failure::Busy } else { Failure::Lock(error.to_string()) })
)]
async fn job() -> Result<u64, Failure> {
    Ok(7)
}

#[tokio::test]
async fn accepted() -> Result<(), Error> {
    let scope = Scope::memory().await?;
    scope
        .run(async {
            assert_eq!(job().await, Ok(7));
            let held = scope.client().rw_lock("job")?.write().await?;
            assert_eq!(job().await, Err(Failure::Busy));
            held.release().await?;
            scope.client().shutdown().await?;
            assert!(matches!(job().await, Err(Failure::Lock(_))));
            Ok(())
        })
        .await
}
