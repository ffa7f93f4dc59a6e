use dlock::distributed_lock;
use dlock::testing::Scope;

#[derive(Debug, thiserror::Error)]
enum AppError {
    #[error("locking failed")]
    Lock(#[from] dlock::Error),
    #[error("no such order")]
    NoSuchOrder,
}

#[distributed_lock(key = "a")]
async fn with_thiserror(found: bool) -> Result<(), AppError> {
    if found {
        Ok(())
    } else {
        Err(AppError::NoSuchOrder)
    }
}

#[distributed_lock(key = "a")]
async fn with_anyhow(text: &str) -> anyhow::Result<u64> {
    Ok(text.parse()?)
}

#[distributed_lock(key = "a")]
async fn with_eyre(text: &str) -> eyre::Result<u64> {
    Ok(text.parse()?)
}

#[distributed_lock(key = "a")]
async fn with_box(text: &str) -> Result<u64, Box<dyn std::error::Error + Send + Sync>> {
    Ok(text.parse()?)
}

type Alias<T> = Result<T, AppError>;

#[distributed_lock(key = "a")]
async fn with_alias() -> Alias<u64> {
    Ok(1)
}

#[tokio::test]
async fn accepted() -> Result<(), dlock::Error> {
    let scope = Scope::memory().await?;
    scope
        .run(async {
            assert!(with_thiserror(true).await.is_ok());
            assert!(matches!(
                with_thiserror(false).await,
                Err(AppError::NoSuchOrder)
            ));
            assert_eq!(with_anyhow("1").await.ok(), Some(1));
            assert_eq!(with_eyre("1").await.ok(), Some(1));
            assert_eq!(with_box("1").await.ok(), Some(1));
            assert_eq!(with_alias().await.ok(), Some(1));
            scope.client().shutdown().await?;
            assert!(matches!(with_thiserror(true).await, Err(AppError::Lock(_))));
            Ok(())
        })
        .await
}
