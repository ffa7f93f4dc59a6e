use dlock::testing::Scope;
use dlock::{Error, distributed_lock};

#[distributed_lock(key = "parse:{text}")]
async fn parse(text: &str) -> Result<i64, Box<dyn std::error::Error + Send + Sync>> {
    if text.is_empty() {
        return Ok(0);
    }
    let number: i64 = text.parse()?;
    loop {
        tokio::task::yield_now().await;
        if number > 0 {
            break Ok(number);
        } else if number == 0 {
            continue;
        }
        return Err("negative".into());
    }
}

#[tokio::test]
async fn accepted() -> Result<(), Error> {
    let scope = Scope::memory().await?;
    scope
        .run(async {
            assert_eq!(parse("7").await.ok(), Some(7));
            assert_eq!(parse("").await.ok(), Some(0));
            assert!(parse("x").await.is_err());
            assert!(parse("-1").await.is_err());
            Ok(())
        })
        .await
}
