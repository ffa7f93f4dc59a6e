//! What a caller gets instead of the lock: an error of its type, or what `on_busy` says.

use std::io;

use dlock::{FromLockError, distributed_lock};

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

/// Its future is not `Send`.
#[distributed_lock(key = "a")]
async fn with_local_box(text: &str) -> Result<u64, Box<dyn std::error::Error>> {
    Ok(text.parse()?)
}

type Alias<T> = Result<T, AppError>;

#[distributed_lock(key = "a")]
async fn with_alias() -> Alias<u64> {
    Ok(1)
}

/// The remedies that the compiler's message names.
#[distributed_lock(key = "a", on_busy = |error| Err(io::Error::other(error)))]
async fn with_a_foreign_error() -> io::Result<u64> {
    Ok(1)
}

#[derive(Debug, PartialEq)]
enum Outcome {
    Done,
    NotLocked,
}

impl FromLockError for Outcome {
    fn from_lock_error(_: dlock::Error) -> Self {
        Self::NotLocked
    }
}

#[distributed_lock(key = "a")]
async fn with_a_type_of_its_own() -> Outcome {
    Outcome::Done
}

#[distributed_lock(key = "a")]
async fn with_any_error<E: From<dlock::Error>>() -> Result<u64, E> {
    Ok(1)
}

#[distributed_lock(key = "a")]
async fn with_anything<R: FromLockError>(value: R) -> R {
    value
}

accepted!(error_types, scope, {
    assert!(with_thiserror(true).await.is_ok());
    assert!(matches!(
        with_thiserror(false).await,
        Err(AppError::NoSuchOrder)
    ));
    assert_eq!(with_anyhow("1").await.ok(), Some(1));
    assert_eq!(with_eyre("1").await.ok(), Some(1));
    assert_eq!(with_box("1").await.ok(), Some(1));
    assert_eq!(with_local_box("1").await.ok(), Some(1));
    assert_eq!(with_alias().await.ok(), Some(1));
    assert_eq!(with_a_foreign_error().await.ok(), Some(1));
    assert_eq!(with_a_type_of_its_own().await, Outcome::Done);
    assert_eq!(with_any_error::<AppError>().await.ok(), Some(1));
    scope.client().shutdown().await?;
    assert!(with_a_foreign_error().await.is_err());
    assert_eq!(with_a_type_of_its_own().await, Outcome::NotLocked);
    assert!(with_any_error::<AppError>().await.is_err());
    assert_eq!(with_anything(Outcome::Done).await, Outcome::NotLocked);
    assert!(matches!(with_thiserror(true).await, Err(AppError::Lock(_))));
});

#[distributed_lock(key = "job", wait = "none", on_busy = ())]
async fn job() {}

#[distributed_lock(key = "job", wait = "none", on_busy = None)]
async fn maybe() -> Option<u64> {
    Some(7)
}

#[distributed_lock(key = "job", wait = "none", on_busy = Ok(name.len()))]
async fn result(name: String) -> Result<usize, dlock::Error> {
    drop(name);
    Ok(0)
}

accepted!(on_busy, scope, {
    job().await;
    assert_eq!(maybe().await, Some(7));
    let held = scope.client().rw_lock("job")?.write().await?;
    job().await;
    assert_eq!(maybe().await, None);
    assert_eq!(result("four".to_owned()).await?, 4);
    held.release().await?;
});

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
async fn answered() -> Result<u64, Failure> {
    Ok(7)
}

accepted!(on_busy_closure, scope, {
    assert_eq!(answered().await, Ok(7));
    let held = scope.client().rw_lock("job")?.write().await?;
    assert_eq!(answered().await, Err(Failure::Busy));
    held.release().await?;
    scope.client().shutdown().await?;
    assert!(matches!(answered().await, Err(Failure::Lock(_))));
});
