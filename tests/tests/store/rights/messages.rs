//! Clients of one lock, of which not all may publish.

use std::time::{Duration, Instant};

use dlock_tests::{SOON, connect, publish_command, scaled, wait_until, wait_waiters};

use crate::rights::site::{Site, User};

#[tokio::test]
async fn who_is_not_told_finds_out_soon_after_the_first_time() {
    let (site, heard) = (Site::server().await, User::new());
    let rule = site.advice(&heard).await;
    let unheard = User {
        name: format!("{}-unheard", heard.name),
        prefix: heard.prefix.clone(),
    };
    site.allow(&heard, &rule).await;
    let publish = format!(" +{} ", publish_command().to_lowercase());
    let without = rule.replace(&publish, " ");
    assert_ne!(rule, without);
    site.allow(&unheard, &without).await;
    let told = connect(&site.url(&heard), &heard.prefix).await;
    let told = told.rw_lock("one").expect("a good name");
    let teller = connect(&site.url(&unheard), &heard.prefix).await;
    let teller = teller.rw_lock("one").expect("a good name");

    let mut took = Vec::new();
    for _ in 0..8 {
        let held = teller.write().await.expect("free");
        let wait = async {
            let guard = told.write().await.expect("its turn");
            (guard, Instant::now())
        };
        let release = async {
            wait_waiters(&teller, 1).await;
            wait_until(SOON, "it listens", || site.hears(&heard)).await;
            let released = Instant::now();
            held.release().await.expect("held to the end");
            released
        };
        let ((guard, entered), released) = tokio::join!(wait, release);
        took.push(entered.saturating_duration_since(released));
        guard.release().await.expect("held to the end");
    }
    println!("{took:?}");
    let later = took.split_off(2);
    let sum: Duration = later.iter().sum();
    assert!(sum < scaled(Duration::from_millis(80)) * 6, "{later:?}");
}
