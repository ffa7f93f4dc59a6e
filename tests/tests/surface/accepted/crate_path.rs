use dlock::testing::Scope;
use locks::dlock::Error;

mod locks {
    pub(super) extern crate dlock;
}

#[locks::dlock::distributed_lock(key = "a", crate = locks::dlock)]
async fn ship() -> Result<u64, Error> {
    Ok(1)
}

#[tokio::test]
async fn accepted() -> Result<(), Error> {
    let scope = Scope::memory().await?;
    scope
        .run(async {
            assert_eq!(ship().await?, 1);
            Ok(())
        })
        .await
}
