use dlock::testing::Scope;
use dlock::{Error, distributed_lock};

macro_rules! locked {
    ($name:ident, $key:literal, $mode:expr) => {
        #[distributed_lock(key = $key, mode = $mode)]
        async fn $name(id: u64) -> Result<u64, Error> {
            Ok(id)
        }
    };
}

locked!(reads, "a", "read");
locked!(writes, "b", dlock::LockMode::Write);

#[tokio::test]
async fn accepted() -> Result<(), Error> {
    let scope = Scope::memory().await?;
    scope
        .run(async {
            assert_eq!(reads(1).await?, 1);
            assert_eq!(writes(2).await?, 2);
            Ok(())
        })
        .await
}
