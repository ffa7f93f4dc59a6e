//! Clients that have to show a certificate.

use std::time::{Duration, Instant};

use dlock::{ClientBuilder, Error};
use dlock_tests::{scaled, wait_until};

use crate::tls::site::{Site, take};

/// The error of connecting, which must not take until the end of `retry_for`.
async fn refused(builder: ClientBuilder) -> Error {
    let start = Instant::now();
    let error = builder.build().await.expect_err("this cannot work");
    assert!(start.elapsed() < scaled(Duration::from_secs(3)), "{error}");
    error
}

#[tokio::test]
async fn a_client_shows_its_certificate_and_who_has_none_is_told_at_once() {
    let Some(site) = Site::start("yes").await else {
        return;
    };
    let (cert, key) = (site.file("client.pem"), site.file("client.key"));
    let by_files = site.builder().tls_client_files(&cert, &key);
    let by_texts = site
        .builder()
        .tls_ca_pem(site.text("ca.pem"))
        .tls_client_pem(site.text("client.pem"), site.text("client.key"));
    let file = |name: &str| site.file(name).display().to_string().replace('/', "%2F");
    let url = format!(
        "{}?tls_ca_file={}&tls_cert_file={}&tls_key_file={}",
        site.url(),
        file("ca.pem"),
        file("client.pem"),
        file("client.key")
    );
    for builder in [by_files, by_texts, dlock::Client::builder().url(url)] {
        let client = builder.build().await.expect("both sides agree");
        take(&client).await.expect("free");
        client.shutdown().await.expect("nothing is held");
    }

    let error = refused(site.builder()).await;
    assert!(error.is_unauthorized(), "{error:?}");
    assert!(error.to_string().contains("tls_client_files"), "{error}");
    let stranger = (site.file("stranger.pem"), site.file("stranger.key"));
    let error = refused(site.builder().tls_client_files(stranger.0, stranger.1)).await;
    assert!(error.is_unauthorized(), "{error:?}");
    assert!(error.to_string().contains("tls_client_files"), "{error}");
}

#[tokio::test]
async fn a_server_that_nobody_vouches_for_is_refused_at_once() {
    let Some(site) = Site::start("no").await else {
        return;
    };
    let error = refused(site.builder().tls_ca_file(site.file("other.pem"))).await;
    assert!(error.is_unauthorized(), "{error:?}");
    assert!(error.to_string().contains("tls_ca_file"), "{error}");
    // The certificate is for another name.
    let url = site.url().replace("127.0.0.1", "localhost");
    let error = refused(site.builder().url(url)).await;
    assert!(error.is_unauthorized(), "{error:?}");
    assert!(error.to_string().contains("name"), "{error}");
}

#[tokio::test]
async fn a_new_certificate_is_shown_by_the_next_connection() {
    let Some(site) = Site::start("yes").await else {
        return;
    };
    let (cert, key) = (site.file("mine.pem"), site.file("mine.key"));
    let write = |name: &str| {
        std::fs::write(&cert, site.text(&format!("{name}.pem"))).expect("writable");
        std::fs::write(&key, site.text(&format!("{name}.key"))).expect("writable");
    };
    write("client");
    let builder = site.builder().tls_client_files(&cert, &key);
    let client = builder.retry_for(scaled(Duration::from_secs(2))).build();
    let client = client.await.expect("both sides agree");
    take(&client).await.expect("free");
    let disconnect = async || {
        let kill = ["CLIENT", "KILL", "TYPE", "normal"];
        site.server.query::<redis::Value>(&kill).await;
    };

    write("stranger");
    disconnect().await;
    let soon = Duration::from_secs(10);
    wait_until(soon, "the new certificate is refused", || async {
        take(&client)
            .await
            .is_err_and(|error| error.is_unauthorized())
    })
    .await;
    write("client");
    wait_until(soon, "the old one is as good as before", || async {
        take(&client).await.is_ok()
    })
    .await;
    // Files that have gone do no harm to who has read them.
    for file in [&cert, &key, &site.file("ca.pem")] {
        std::fs::remove_file(file).expect("it is there");
    }
    disconnect().await;
    wait_until(soon, "it goes on with what it has", || async {
        take(&client).await.is_ok()
    })
    .await;
}
