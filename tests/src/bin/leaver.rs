//! A program that ends with a lock in its hands, for tests of what is left behind.
//!
//! `leaver <how> <url> <prefix>`: takes the lock `one` and leaves `main`; `how` says with what.

use std::{process::ExitCode, time::Duration};

use dlock::{Client, Error, WriteGuard, blocking};
use tokio::runtime::{Builder, Runtime};

/// Longer than any test waits.
const LEASE: Duration = Duration::from_secs(600);

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [how, url, prefix] = arguments.as_slice() else {
        panic!("leaver <how> <url> <prefix>");
    };
    let one = || Builder::new_current_thread().enable_all().build();
    let outcome = match how.as_str() {
        "one-thread" => one().expect("starts").block_on(leave(url, prefix)),
        "threads" => Runtime::new().expect("starts").block_on(leave(url, prefix)),
        "installed" => {
            let runtime = one().expect("starts");
            runtime.block_on(leave_installed(url, prefix))
        }
        "question-mark" => {
            let runtime = one().expect("starts");
            let failed = runtime.block_on(fail(url, prefix));
            assert!(failed.expect_err("as planned").is_invalid());
            Ok(())
        }
        "task" => Runtime::new()
            .expect("starts")
            .block_on(leave_task(url, prefix)),
        "many-tasks" => one().expect("starts").block_on(leave_many(url, prefix)),
        "outlives-runtime" => {
            let guard = one().expect("starts").block_on(take(url, prefix));
            guard.map(drop)
        }
        "min-hold" => one().expect("starts").block_on(rest(url, prefix)),
        "cancelled" => one().expect("starts").block_on(cancel(url, prefix)),
        "blocking" => leave_blocking(url, prefix),
        "blocking-question-mark" => {
            let failed = fail_blocking(url, prefix);
            assert!(failed.expect_err("as planned").is_invalid());
            Ok(())
        }
        other => panic!("unknown: {other:?}"),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("error: {error:?}");
            ExitCode::FAILURE
        }
    }
}

async fn client(url: &str, prefix: &str) -> Result<Client, Error> {
    let builder = dlock_tests::builder(url, prefix);
    builder.lease(LEASE).build().await
}

async fn take(url: &str, prefix: &str) -> Result<WriteGuard, Error> {
    client(url, prefix).await?.rw_lock("one")?.write().await
}

async fn leave(url: &str, prefix: &str) -> Result<(), Error> {
    let client = client(url, prefix).await?;
    let _guard = client.rw_lock("one")?.write().await?;
    Ok(())
}

async fn leave_installed(url: &str, prefix: &str) -> Result<(), Error> {
    dlock::install(client(url, prefix).await?);
    let _guard = dlock::installed()?.rw_lock("one")?.write().await?;
    Ok(())
}

async fn fail(url: &str, prefix: &str) -> Result<(), Error> {
    dlock::install(client(url, prefix).await?);
    let _guard = dlock::installed()?.rw_lock("one")?.write().await?;
    dlock::installed()?.rw_lock("")?;
    Ok(())
}

async fn leave_task(url: &str, prefix: &str) -> Result<(), Error> {
    dlock::install(client(url, prefix).await?);
    let guard = dlock::installed()?.rw_lock("one")?.write().await?;
    tokio::spawn(async move {
        std::future::pending::<()>().await;
        drop(guard);
    });
    tokio::task::yield_now().await;
    Ok(())
}

async fn leave_many(url: &str, prefix: &str) -> Result<(), Error> {
    let client = client(url, prefix).await?;
    dlock::install(client.clone());
    for name in (0..100)
        .map(|n| format!("more:{n}"))
        .chain(["one".to_owned()])
    {
        let guard = client.rw_lock(name)?.write().await?;
        tokio::spawn(async move {
            std::future::pending::<()>().await;
            drop(guard);
        });
    }
    Ok(())
}

async fn rest(url: &str, prefix: &str) -> Result<(), Error> {
    let client = client(url, prefix).await?;
    let lock = client.rw_lock("one")?.min_hold(Duration::from_secs(10));
    drop(lock.write().await?);
    Ok(())
}

async fn cancel(url: &str, prefix: &str) -> Result<(), Error> {
    let client = client(url, prefix).await?;
    let lock = client.rw_lock("one")?;
    let mut asking = Box::pin(lock.write());
    // Once it has been sent, no task waits for the answer.
    let asked = tokio::time::timeout(Duration::ZERO, &mut asking).await;
    drop(asked);
    drop(asking);
    Ok(())
}

fn leave_blocking(url: &str, prefix: &str) -> Result<(), Error> {
    let builder = dlock_tests::builder(url, prefix).lease(LEASE);
    let client: blocking::Client = builder.build_blocking()?;
    let _guard = client.rw_lock("one")?.write()?;
    Ok(())
}

fn fail_blocking(url: &str, prefix: &str) -> Result<(), Error> {
    let builder = dlock_tests::builder(url, prefix).lease(LEASE);
    let client: blocking::Client = builder.build_blocking()?;
    let _guard = client.rw_lock("one")?.write()?;
    client.rw_lock("")?;
    Ok(())
}
