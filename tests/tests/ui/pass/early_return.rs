use dlock::{Client, Error, distributed_lock};

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
        }
        return Err("not positive".into());
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    dlock::install(Client::connect("memory://").await?);
    assert_eq!(parse("7").await.ok(), Some(7));
    assert_eq!(parse("").await.ok(), Some(0));
    assert!(parse("x").await.is_err());
    assert!(parse("-1").await.is_err());
    Ok(())
}
