//! Certificates on a disk that does not answer: a pipe without a writer.

use std::path::Path;
use std::process::Command;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use dlock::Client;
use dlock_tests::{scaled, unique_prefix, wait_until};
use tokio::runtime::Builder;

use crate::tls::site::{Site, take};

const SOON: Duration = Duration::from_secs(20);

fn make_pipe(path: &Path) {
    let made = Command::new("mkfifo").arg(path).status();
    assert!(made.expect("mkfifo is installed").success());
}

/// Runs a test on a runtime with one thread, which nothing may keep from running.
fn in_time(test: impl Future<Output = ()> + Send + 'static) {
    let (sender, receiver) = mpsc::channel();
    let thread = thread::spawn(move || {
        let runtime = Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime starts").block_on(test);
        sender.send(()).expect("somebody waits");
    });
    let ended = receiver.recv_timeout(scaled(SOON));
    let hangs = ended == Err(mpsc::RecvTimeoutError::Timeout);
    assert!(!hangs, "the file keeps the runtime from running");
    thread.join().expect("it has passed");
}

#[test]
fn a_file_that_hangs_is_an_error_of_connecting() {
    in_time(async {
        let pipe = std::env::temp_dir().join(unique_prefix());
        make_pipe(&pipe);
        let builder = Client::builder().url("rediss://127.0.0.1:1");
        let builder = builder.tls_ca_file(&pipe);
        let patience = Duration::from_millis(1200);
        let error = builder.retry_for(patience).build().await;
        let error = error.expect_err("nothing can be read");
        assert!(error.to_string().contains("tls_ca_file"), "{error}");
        std::fs::remove_file(&pipe).expect("it is there");
    });
}

#[test]
fn who_has_read_its_certificates_does_not_wait_for_them() {
    in_time(async {
        let Some(site) = Site::start("no").await else {
            return;
        };
        let client = site.builder().build().await.expect("both sides agree");
        take(&client).await.expect("free");
        let file = site.file("ca.pem");
        std::fs::remove_file(&file).expect("it is there");
        make_pipe(&file);
        let kill = ["CLIENT", "KILL", "TYPE", "normal"];
        site.server.query::<redis::Value>(&kill).await;
        wait_until(SOON, "it goes on with what it has", || async {
            take(&client).await.is_ok()
        })
        .await;
    });
}
