//! A process with many waiters.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use dlock_tests::builder;

/// The file that says when to begin.
pub(crate) const GO: &str = "go";

/// Waits for each of `count` locks from `first` on, of `of`; gives each back at once, and waits again `pause` seconds later.
pub(crate) async fn run(url: &str, prefix: &str, locks: [&str; 3], pause: &str) {
    let number = |text: &str| text.parse::<usize>().expect("a number");
    let [first, count, of] = locks.map(number);
    let pause = Duration::from_secs(pause.parse().expect("seconds"));
    let client = builder(url, prefix).build().await;
    let client = client.expect("a waiter connects");
    println!("ready");
    while !Path::new(GO).exists() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let (grants, errors) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    for n in first..first + count {
        let name = format!("s{}", n % of);
        let lock = client.rw_lock(name).expect("a good name");
        let (grants, errors) = (Arc::clone(&grants), Arc::clone(&errors));
        tokio::spawn(async move {
            loop {
                let outcome = match lock.write().await {
                    Ok(guard) => {
                        grants.fetch_add(1, Ordering::Relaxed);
                        guard.release().await
                    }
                    Err(error) => Err(error),
                };
                match outcome {
                    Ok(()) => tokio::time::sleep(pause).await,
                    Err(error) => {
                        if errors.fetch_add(1, Ordering::Relaxed) < 3 {
                            println!("error {error}");
                        }
                        tokio::time::sleep(Duration::from_millis(100)).await;
                    }
                }
            }
        });
    }
    let mut said = String::new();
    loop {
        tokio::time::sleep(Duration::from_millis(100)).await;
        let (grants, errors) = (
            grants.load(Ordering::Relaxed),
            errors.load(Ordering::Relaxed),
        );
        let now = format!("grants {grants} errors {errors}");
        if now != said {
            println!("{now}");
            said = now;
        }
    }
}
