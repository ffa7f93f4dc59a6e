//! Replies that do not end.

use std::time::Duration;

use dlock_tests::{Impostor, Lie, shared_server, wait_until};

use crate::rig::settings;

/// More than a reply may have, with what is under way in the sockets' buffers.
const MUCH: usize = 40 << 20;

/// The most memory that this process has used so far, in MB.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.expect("a number") / 1024
}

#[tokio::test]
async fn a_reply_without_end_is_given_up_before_it_fills_the_memory() {
    let server = shared_server().await;
    for (first, more) in [
        ("$2000000000\r\n", "x"),
        ("*2000000000\r\n", ":1\r\n"),
        ("*2000000000\r\n", "_\r\n"),
        ("+", "x"),
        ("", "*1\r\n"),
    ] {
        for at in ["EVAL", "HELLO"] {
            let before = peak();
            let impostor = Impostor::start(server.addr(), move |asked| {
                let endless = || Lie::Endless(first.to_owned(), more.to_owned());
                asked.is(&[at]).then(endless)
            });
            // All the time that it may want.
            let patience = Duration::from_secs(60);
            let connecting = settings(&impostor.url())
                .retry_for(patience)
                .response_timeout(patience)
                .connect_timeout(patience)
                .build();
            let connecting = tokio::spawn(connecting);
            let what = format!("an end of {first:?} {more:?} to {at}");
            wait_until(Duration::from_secs(30), &what, || async {
                let (taken, gone) = impostor.endless();
                gone > 0 || taken > MUCH
            })
            .await;
            connecting.abort();
            let (taken, _) = impostor.endless();
            let grown = peak() - before;
            println!("{first:?} {more:?} to {at}: {taken} bytes, {grown} MB more");
            assert!(taken <= MUCH, "{first:?} {more:?} to {at}: {taken} bytes");
            assert!(grown < 400, "{first:?} {more:?} to {at}: {grown} MB");
        }
    }
}
