//! What traces show.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use dlock::{Client, Error, blocking, distributed_lock};
use tracing::Level;
use tracing::subscriber::DefaultGuard;
use tracing_subscriber::fmt::format::FmtSpan;

/// What was written so far.
#[derive(Clone, Debug, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Lines {
    /// What this thread tells, for as long as the guard lives.
    fn heard(level: Level, events: FmtSpan) -> (Self, DefaultGuard) {
        let lines = Self::default();
        let writer = lines.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_max_level(level)
            .with_span_events(events)
            .with_ansi(false)
            .with_writer(move || writer.clone())
            .finish();
        (lines, tracing::subscriber::set_default(subscriber))
    }

    fn text(&self) -> String {
        let bytes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// The first line with all these parts.
    fn find(&self, parts: &[&str]) -> String {
        let text = self.text();
        let found = text
            .lines()
            .find(|line| parts.iter().all(|part| line.contains(part)));
        found
            .unwrap_or_else(|| panic!("no line with {parts:?} in\n{text}"))
            .to_owned()
    }
}

impl io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lines.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test(flavor = "current_thread")]
async fn acquire_held_and_lost_are_told_with_key_mode_token_and_wait() {
    let (lines, _here) = Lines::heard(Level::DEBUG, FmtSpan::NEW | FmtSpan::CLOSE);

    let client = Client::connect("memory://").await.expect("always there");
    let lock = client.rw_lock("order:42").expect("valid");
    let guard = lock.write().await.expect("free");
    let token = format!("token={}", guard.fencing_token());
    let key = "key=\"order:42\"";
    lines.find(&["acquire{", key, "mode=\"write\"", "new"]);
    lines.find(&["acquire{", key, "held", &token, "wait="]);
    lines.find(&["held{", key, &token, "new"]);

    let late = lock.read_timeout(Duration::from_millis(5)).await;
    assert!(late.is_err_and(|error| error.is_timeout()));
    lines.find(&["acquire{", "mode=\"read\"", "failed", "error="]);
    assert!(lock.try_read().await.expect("answers").is_none());
    lines.find(&["acquire{", "mode=\"read\"", "busy"]);

    client.shutdown().await.expect("releases");
    guard.lost().await;
    lines.find(&["WARN", "lost", key, &token, "reason=\"shutdown\""]);
    assert!(
        !lines
            .text()
            .contains("held{key=\"order:42\" mode=\"write\"}: close")
    );
    drop(guard);
    lines.find(&["held{", key, &token, "close"]);
}

#[distributed_lock(key = "order:{id}", client = client, guard = lock)]
async fn ship(client: &Client, counter: &blocking::Client, id: u64) -> Result<String, Error> {
    tracing::info!("before");
    tokio::task::yield_now().await;
    tracing::info!("after");
    inside(client).await?;
    count(counter)?;
    Ok(format!("token={}", lock.fencing_token()))
}

#[distributed_lock(key = "order:7", client = client, mode = "read")]
async fn inside(client: &Client) -> Result<(), Error> {
    tracing::info!("entered again");
    Ok(())
}

#[distributed_lock(key = "stock", client = client)]
fn count(client: &blocking::Client) -> Result<(), Error> {
    tracing::info!("not async");
    Ok(())
}

#[tokio::test(flavor = "current_thread")]
async fn what_a_body_logs_tells_the_lock() {
    // As in production.
    let (lines, _here) = Lines::heard(Level::INFO, FmtSpan::NONE);
    let client = blocking::Client::connect("memory://").expect("always there");
    let token = ship(&client.clone().into(), &client, 7)
        .await
        .expect("free");
    tracing::info!("outside");
    for line in ["before", "after", "entered again"] {
        lines.find(&["held{", "key=\"order:7\"", "mode=\"write\"", &token, line]);
    }
    lines.find(&[
        "held{",
        "key=\"order:7\"",
        "held{kind=\"rw\" key=\"stock\"",
        "not async",
    ]);
    assert!(!lines.find(&["outside"]).contains("held"));
    assert!(!lines.text().contains("acquire{"), "that is for debugging");
}

#[distributed_lock(key = "order:7", client = client, lock = "mutex")]
async fn bill(client: &Client) -> Result<(), Error> {
    tracing::info!("in a mutex");
    Ok(())
}

#[tokio::test(flavor = "current_thread")]
async fn a_plain_mutex_is_told_without_a_token() {
    let (lines, _here) = Lines::heard(Level::INFO, FmtSpan::NONE);
    let client = Client::connect("memory://").await.expect("always there");
    bill(&client).await.expect("free");
    let line = lines.find(&["held{kind=\"mutex\" key=\"order:7\"", "in a mutex"]);
    assert!(!line.contains("token"), "{line}");
}

#[tokio::test(flavor = "current_thread")]
async fn a_name_cannot_steer_a_terminal_through_the_log() {
    let (lines, _here) = Lines::heard(Level::DEBUG, FmtSpan::NEW | FmtSpan::CLOSE);
    let client = Client::connect("memory://").await.expect("valid");
    let lock = client
        .rw_lock("a\x1b[2J\r\nall is lost\u{9b}")
        .expect("any text");
    let held = lock.write().await.expect("free");
    let wait = Duration::from_millis(10);
    lock.write_timeout(wait).await.expect_err("held");
    client.shutdown().await.expect("nothing in the way");
    drop(held);
    for word in ["held", "failed", "lost"] {
        lines.find(&[word, "a\\u{1b}[2J\\r\\nall is lost"]);
    }
    let text = lines.text();
    let steers = |c: char| c.is_control() && c != '\n';
    assert!(!text.contains(steers), "{text:?}");
}
