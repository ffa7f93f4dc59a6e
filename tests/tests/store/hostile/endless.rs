//! Replies that do not end.

use dlock_tests::{Impostor, Lie, shared_server};

use crate::rig::{RETRY, connect_in_time, settings};

/// The most memory that this process has used so far, in bytes.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.expect("a number") * 1024
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
            // Enough time to read a lot.
            let patient = settings(&impostor.url()).response_timeout(RETRY);
            let patient = patient.connect_timeout(RETRY);
            let error = connect_in_time(patient).expect_err("no answer");
            let grown = (peak() - before) >> 20;
            println!("{first:?} {more:?} to {at}: {grown} MB more, {error}");
            assert!(error.is_unavailable() || error.is_timeout(), "{error:?}");
            assert!(grown < 300, "{first:?}: {grown} MB");
        }
    }
}
