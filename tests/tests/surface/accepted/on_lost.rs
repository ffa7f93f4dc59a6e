use dlock::testing::Scope;
use dlock::{Error, distributed_lock};

#[distributed_lock(key = "a", on_lost = "cancel")]
async fn stops() -> Result<(), Error> {
    Ok(())
}

#[distributed_lock(key = "a", on_lost = "continue")]
async fn goes_on() -> Result<(), Error> {
    Ok(())
}

#[tokio::test]
async fn accepted() -> Result<(), Error> {
    let scope = Scope::memory().await?;
    scope
        .run(async {
            stops().await?;
            goes_on().await?;
            Ok(())
        })
        .await
}
