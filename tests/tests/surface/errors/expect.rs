//! What an error has to be like.

use std::{
    future::Future,
    time::{Duration, Instant},
};

use dlock::{Client, Error, ErrorKind};
use dlock_tests::{builder, scaled, unique_prefix};

pub(crate) const RETRY: Duration = Duration::from_millis(1500);
pub(crate) const SECRET: &str = "s3cr3t-pw";

/// The error of something that must not take longer than `retry_for` and a little.
pub(crate) async fn error_of<T>(what: impl Future<Output = Result<T, Error>>) -> Error {
    let start = Instant::now();
    let outcome = tokio::time::timeout(scaled(Duration::from_secs(20)), what).await;
    let error = outcome.expect("no hang").err().expect("an error");
    let took = start.elapsed();
    assert!(
        took < RETRY + scaled(Duration::from_secs(1)),
        "{took:?}: {error}"
    );
    let shown = format!("{error} {error:?}");
    assert!(!shown.contains(SECRET), "{shown}");
    error
}

pub(crate) fn assert_says(error: &Error, kind: ErrorKind, words: &[&str]) {
    let text = error.to_string();
    assert_eq!(error.kind(), kind, "{error:?}");
    for word in words {
        assert!(text.contains(word), "no {word:?} in {text:?}");
    }
}

pub(crate) async fn open(url: &str) -> Result<Client, Error> {
    let builder = builder(url, &unique_prefix()).retry_for(RETRY);
    builder.build().await
}
