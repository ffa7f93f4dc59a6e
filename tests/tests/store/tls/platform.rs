//! Authorities that the platform trusts.

use std::process::Command;
use std::time::Duration;

use dlock::ErrorKind;

use crate::tls::site::Site;

/// Where the child process of the test finds the server; without it, the test is the parent.
const URL: &str = "DLOCK_TEST_TLS_URL";

#[tokio::test]
async fn a_lock_through_tls() {
    if let Ok(url) = std::env::var(URL) {
        return child(url).await;
    }
    let Some(site) = Site::start("no").await else {
        return;
    };
    // Trust is read from the environment, which only a process of its own can have changed safely.
    let run = |trust: &str| {
        let test = std::env::current_exe().expect("this is a program");
        Command::new(test)
            .args(["--exact", "tls::platform::a_lock_through_tls"])
            .env(URL, site.url())
            .env("SSL_CERT_FILE", site.file(trust))
            .output()
            .expect("the child runs")
    };
    let trusted = run("ca.pem");
    assert!(trusted.status.success(), "{trusted:?}");
    let output = String::from_utf8_lossy(&trusted.stdout).into_owned();
    assert!(
        output.contains("1 passed"),
        "the child had a test to run: {output}"
    );
    let stranger = run("other.pem");
    assert!(!stranger.status.success());
    let output = String::from_utf8_lossy(&stranger.stdout).into_owned();
    assert!(output.contains("invalid peer certificate"), "{output}");

    // The plain port speaks no TLS, which is said in time.
    let plain = dlock::Client::builder()
        .url(format!("rediss://127.0.0.1:{}", site.server.port()))
        .tls_ca_file(site.file("ca.pem"))
        .retry_for(Duration::from_secs(2))
        .build();
    let error = plain.await.expect_err("not TLS");
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error:?}");
}

/// What the child process does.
async fn child(url: String) {
    let client = dlock::Client::builder()
        .url(url)
        .retry_for(Duration::from_secs(2))
        .build()
        .await
        .expect("connected");
    let lock = client.rw_lock("order:42").expect("a good name");
    let guard = lock.write().await.expect("acquired");
    let second = client.rw_lock("order:42").expect("a good name");
    assert!(second.try_write().await.expect("asked").is_none());
    guard.release().await.expect("released");
    client.shutdown().await.expect("closed");
}
