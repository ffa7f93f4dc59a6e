use dlock::testing::Scope;
use std::fmt::Display;

use dlock::{Error, distributed_lock};

#[distributed_lock(key = "{what}")]
async fn bytes(what: impl Display + Send) -> Result<impl Iterator<Item = u8>, Error> {
    Ok(what.to_string().into_bytes().into_iter())
}

#[distributed_lock(key = "{what}")]
fn bytes_at_once(what: impl Display) -> Result<impl Iterator<Item = u8>, Error> {
    Ok(what.to_string().into_bytes().into_iter())
}

#[distributed_lock(key = "dynamic")]
async fn dynamic() -> Result<Box<dyn Fn(u32) -> u32 + Send>, Error> {
    Ok(Box::new(|x| x + 1))
}

#[tokio::test]
async fn accepted() -> Result<(), Error> {
    let scope = Scope::memory().await?;
    scope
        .run(async {
            assert_eq!(bytes("ab").await?.count(), 2);
            assert_eq!(dynamic().await?(1), 2);
            assert!(bytes_at_once("ab").is_err());
            Ok(())
        })
        .await
}
