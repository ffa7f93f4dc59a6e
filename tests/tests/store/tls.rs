//! `rediss://` against a real server, trusted through a certificate authority of the test's own.
#![cfg(feature = "tls")]

use std::net::TcpListener;
use std::path::Path;
use std::process::Command;

use dlock::ErrorKind;
use dlock_tests::{RedisServer, ServerOptions, not_applicable, unique_prefix};

/// Where the child process of the test finds the server.
const URL: &str = "DLOCK_TEST_TLS_URL";

#[tokio::test]
async fn a_lock_through_tls() {
    let without = RedisServer::start().await;
    let setting: Vec<String> = without.query(&["CONFIG", "GET", "tls-port"]).await;
    if setting.is_empty() {
        return not_applicable("the server was built without TLS");
    }
    let folder = std::env::temp_dir().join(unique_prefix());
    std::fs::create_dir(&folder).expect("a temporary folder");
    make_certificates(&folder);
    let port = free_port();
    let file = |name: &str| folder.join(name).display().to_string();
    let server = RedisServer::start_with(
        &ServerOptions::new()
            .config(&format!("tls-port {port}"))
            .config(&format!("tls-cert-file {}", file("server.pem")))
            .config(&format!("tls-key-file {}", file("server.key")))
            .config(&format!("tls-ca-cert-file {}", file("ca.pem")))
            .config("tls-auth-clients no"),
    )
    .await;

    // Trust is read from the environment, which only a process of its own can have changed safely.
    let url = format!("rediss://127.0.0.1:{port}");
    let run = |trust: &str| {
        let test = std::env::current_exe().expect("this is a program");
        Command::new(test)
            .args(["--exact", "--ignored", "child"])
            .env(URL, &url)
            .env("SSL_CERT_FILE", trust)
            .output()
            .expect("the child runs")
    };
    let trusted = run(&file("ca.pem"));
    assert!(trusted.status.success(), "{trusted:?}");
    let stranger = run(&file("other.pem"));
    assert!(!stranger.status.success());
    let output = String::from_utf8_lossy(&stranger.stdout).into_owned();
    assert!(output.contains("invalid peer certificate"), "{output}");

    // The plain port speaks no TLS, which is said in time.
    let plain = dlock::Client::builder()
        .url(format!("rediss://127.0.0.1:{}", server.port()))
        .retry_for(std::time::Duration::from_secs(2))
        .build();
    let error = plain.await.expect_err("not TLS");
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error:?}");
    drop(server);
    std::fs::remove_dir_all(&folder).expect("it is there");
}

#[tokio::test]
#[ignore = "run by a_lock_through_tls"]
async fn child() {
    let url = std::env::var(URL).expect("set by the parent");
    let client = dlock::Client::builder()
        .url(url)
        .retry_for(std::time::Duration::from_secs(2))
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

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("bound").port()
}

/// An authority, a server's certificate that it signed, and another authority.
fn make_certificates(folder: &Path) {
    let openssl = |arguments: &str| {
        let output = Command::new("openssl")
            .args(arguments.split(' '))
            .current_dir(folder)
            .output()
            .expect("the openssl command is installed");
        assert!(output.status.success(), "{arguments}: {output:?}");
    };
    for name in ["ca", "other"] {
        openssl(&format!(
            "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN={name} -keyout {name}.key -out {name}.pem"
        ));
    }
    openssl("req -newkey rsa:2048 -nodes -subj /CN=server -keyout server.key -out server.csr");
    std::fs::write(folder.join("ext"), "subjectAltName=IP:127.0.0.1\n").expect("writable");
    openssl(
        "x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile ext -out server.pem",
    );
}
