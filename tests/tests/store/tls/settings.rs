//! Settings that cannot be meant.

use dlock::{Client, ErrorKind};
use dlock_tests::unique_prefix;

use crate::tls::certificates::make_certificates;

#[tokio::test]
async fn contradictions_and_what_cannot_be_read_are_said_by_build() {
    let folder = std::env::temp_dir().join(unique_prefix());
    std::fs::create_dir(&folder).expect("a temporary folder");
    make_certificates(&folder);
    let file = |name: &str| folder.join(name);
    std::fs::write(file("empty"), "").expect("writable");
    std::fs::write(file("nonsense"), "-----BEGIN CERTIFICATE-----\n!\n").expect("writable");
    let url = |url: &str| Client::builder().url(url);
    let ca = file("ca.pem");
    let tls = || url("rediss://127.0.0.1:1").tls_ca_file(&ca);
    let with_ca = format!("rediss://127.0.0.1:1?tls_ca_file={}", ca.display());
    for (builder, says) in [
        (url("redis://127.0.0.1:1").tls_ca_file(&ca), "rediss://"),
        (url("redis://h?tls_ca_file=x"), "rediss://"),
        (url("memory://").tls_ca_file(&ca), "memory://"),
        (url("memory://").trusted_hosts(["x"]), "memory://"),
        (url(&with_ca).tls_ca_file(&ca), "both"),
        (
            url("redis://h?trusted_hosts=x").trusted_hosts(["y"]),
            "both",
        ),
        (tls().tls_ca_file(file("gone")), "gone"),
        (tls().tls_ca_file(file("empty")), "empty"),
        (tls().tls_ca_file(file("nonsense")), "nonsense"),
        (
            tls().tls_client_files(file("client.pem"), file("gone")),
            "gone",
        ),
        (
            tls().tls_client_files(file("client.pem"), file("stranger.key")),
            "together",
        ),
        (
            tls().tls_client_files(file("client.key"), file("client.key")),
            "client.key",
        ),
        (
            tls().tls_client_files(file("client.pem"), file("client.pem")),
            "not an unencrypted PEM key",
        ),
        (
            tls()
                .tls_ca_pem("secret")
                .tls_client_pem("secret", "secret"),
            "***",
        ),
    ] {
        let shown = format!("{builder:?}");
        assert!(!shown.contains("secret"), "{shown}");
        let error = builder.build().await.expect_err(says);
        assert_eq!(error.kind(), ErrorKind::InvalidConfig, "{error:?}");
        let text = format!("{error} {error:?}");
        assert!(text.contains(says), "{says}: {text}");
        assert!(!text.contains("secret"), "{text}");
    }
    std::fs::remove_dir_all(&folder).expect("it is there");
}
