//! Names, settings and addresses that cannot work.

use std::time::Duration;

use dlock::ErrorKind;
use dlock_tests::{builder, connect, shared_cluster, unique_prefix};

use crate::errors::expect::{SECRET, assert_says, error_of, open};

#[tokio::test]
async fn keys() {
    let client = connect("memory://", "t").await;
    let long = "x".repeat(513);
    for (name, word) in [
        ("", "empty"),
        ("{}", "hash tag"),
        ("a{}b", "hash tag"),
        ("{open", "hash tag"),
        ("close}", "hash tag"),
        (long.as_str(), "512"),
    ] {
        let error = client.rw_lock(name).expect_err("a bad name");
        assert_says(&error, ErrorKind::InvalidKey, &[word]);
        assert!(error.is_invalid());
    }
    // Anything else is a name, and none of them can be mistaken for another.
    for name in [
        "x".repeat(512).as_str(),
        " ",
        "\0",
        "ö:日本",
        "a b\r\nc",
        "{t}a",
        "*",
    ] {
        let lock = client.rw_lock(name).expect("a good name");
        assert_eq!(lock.key().name(), name);
        let guard = lock.write().await.expect("free");
        guard.release().await.expect("held to the end");
    }
    let cluster = connect(&shared_cluster().await.url(), &unique_prefix()).await;
    for name in [
        "x".repeat(512).as_str(),
        " ",
        "\0",
        "ö:日本",
        "a b\r\nc",
        "{t}a",
        "*",
        "%s%d",
    ] {
        let lock = cluster.rw_lock(name).expect("a good name");
        let guard = lock.write().await.expect("free");
        assert!(lock.try_read().await.expect("answered").is_none());
        guard.release().await.expect("held to the end");
    }
}

/// `Debug` of a builder shows servers, and nothing that could be a password.
#[test]
fn a_builder_shows_no_password() {
    let shown = |url: &str| format!("{:?}", dlock::Client::builder().url(url));
    for url in [
        format!("redis://app:{SECRET}@a:1,b:2/3"),
        format!("redis://:{SECRET}@a:1"),
        // The server was forgotten.
        format!("redis://app:{SECRET}"),
        format!("redis://:{SECRET}/0"),
        format!("app:{SECRET}"),
    ] {
        let shown = shown(&url);
        assert!(!shown.contains(SECRET), "{shown}");
    }
    for url in [
        "redis://a:1,b:2/3",
        "redis://a",
        "rediss://[::1]:6379",
        "memory://",
    ] {
        let shown = shown(url);
        assert!(shown.contains(url), "{shown}");
    }
    let shown = shown(&format!("redis://app:{SECRET}@a:1,b:2/3"));
    assert!(shown.contains("a:1,b:2/3"), "{shown}");
}

#[tokio::test]
async fn settings() {
    let lock = connect("memory://", "t").await;
    let lock = lock.rw_lock("one").expect("a good name");
    let ms = Duration::from_millis;
    for lease in [
        Duration::ZERO,
        ms(1),
        ms(199),
        ms(86_400_001),
        Duration::MAX,
    ] {
        let error = error_of(lock.clone().lease(lease).write()).await;
        assert_says(&error, ErrorKind::InvalidConfig, &["lease", "between"]);
        let error = error_of(builder("memory://", "t").lease(lease).build()).await;
        assert_says(&error, ErrorKind::InvalidConfig, &["lease", "between"]);
    }
    let error = error_of(lock.clone().lease(ms(500)).max_hold(ms(499)).try_read()).await;
    assert_says(&error, ErrorKind::InvalidConfig, &["max_hold", "raise"]);
    // Among them what would be another's: `a` with `b:{x}` has the key of `a:b` with `x`, and `~a*` covers `ab`.
    for prefix in [
        "", "a{b", "a}", "a~b", "a:b", "a*", "a?", "a[b]", "a b", "a\x1b",
    ] {
        let error = error_of(builder("memory://", prefix).build()).await;
        assert_says(&error, ErrorKind::InvalidConfig, &["prefix"]);
    }
    for timeout in [Duration::ZERO, Duration::MAX] {
        let plain = || builder("memory://", "t");
        for builder in [
            plain().retry_for(timeout),
            plain().connect_timeout(timeout),
            plain().response_timeout(timeout),
        ] {
            let error = error_of(builder.build()).await;
            assert_says(&error, ErrorKind::InvalidConfig, &["choose"]);
        }
    }
    // No patience at all, and more than there is time.
    for patience in [Duration::ZERO, Duration::MAX] {
        match lock.write_timeout(patience).await {
            Ok(guard) => guard.release().await.expect("held to the end"),
            Err(error) => assert!(error.is_timeout(), "{error}"),
        }
    }
    let held = lock.write().await.expect("free");
    let error = error_of(lock.write_timeout(ms(50))).await;
    assert!(error.is_timeout());
    assert!(error.to_string().contains("inspect"), "{error}");
    drop(held);
}

#[tokio::test]
async fn urls() {
    for url in [
        "",
        "localhost",
        "http://localhost",
        "redis://",
        "redis://:x@",
        "redis://host:port",
        "redis://host:99999",
        "redis://host/database",
        "redis-sentinel://host",
        "unix:///tmp/socket",
    ] {
        let error = error_of(open(url)).await;
        assert_eq!(error.kind(), ErrorKind::InvalidConfig, "{url}: {error:?}");
    }
    let with_secret = format!("http://app:{SECRET}@localhost");
    let error = error_of(open(&with_secret)).await;
    assert_eq!(error.kind(), ErrorKind::InvalidConfig);
    let with_secret = format!("redis://app:{SECRET}@host:port");
    error_of(open(&with_secret)).await;
}
