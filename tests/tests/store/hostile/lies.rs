//! What a server says, in errors.

use std::error::Error as _;
use std::fmt::Write;

use dlock::Error;
use dlock_tests::{Impostor, Lie, connect, shared_server, unique_prefix};

use crate::rig::{connect_in_time, settings};

/// All texts of an error that a program may print.
fn shown(error: &Error) -> String {
    let mut shown = format!("{error} {error:?}");
    let mut source = error.source();
    while let Some(cause) = source {
        write!(shown, " {cause} {cause:?}").expect("a string takes all");
        source = cause.source();
    }
    shown
}

fn assert_harmless(error: &Error) {
    let shown = shown(error);
    assert!(shown.len() < 4000, "{} bytes", shown.len());
    assert!(!shown.contains(char::is_control), "{shown:?}");
}

#[tokio::test]
async fn what_a_server_says_is_cut_and_cannot_steer_a_terminal() {
    let server = shared_server().await;
    let filler = "\x1b[2Jx\u{9b}31m".repeat(10_000);
    for code in [
        "ERR",
        "NOPERM",
        "NOAUTH",
        "CLUSTERDOWN",
        "WRONGTYPE",
        "DLOCKFOREIGN",
        "X",
        "",
    ] {
        for at in ["EVAL", "HELLO", "TIME"] {
            let line = format!("{code} {filler}");
            let impostor = Impostor::start(server.addr(), move |asked| {
                let this = asked.is(&[at]) || at == "EVAL" && asked.is_script();
                this.then(|| Lie::error(&line))
            });
            match connect_in_time(settings(&impostor.url())) {
                Err(error) => assert_harmless(&error),
                Ok(_) => assert_eq!(at, "TIME", "{code}: only that is not needed"),
            }
        }
    }
    // Something that is no answer at all, and is quoted by who reads it.
    let garbage = format!("?{filler}\r\n");
    let impostor = Impostor::start(server.addr(), move |asked| {
        asked.is(&["EVAL"]).then(|| Lie::Say(garbage.clone()))
    });
    let error = connect_in_time(settings(&impostor.url())).expect_err("no answer");
    assert_harmless(&error);
}

#[tokio::test]
async fn a_name_cannot_steer_a_terminal_through_an_error() {
    let client = connect("memory://", &unique_prefix()).await;
    let name = "a\x1b[2J\r\nERROR all is lost\u{202e}\u{9b}";
    let lock = client.rw_lock(name).expect("any text is a name");
    let held = lock.write().await.expect("free");
    let wait = std::time::Duration::from_millis(20);
    let error = lock.write_timeout(wait).await.expect_err("held");
    assert!(
        error.to_string().contains("a\\u{1b}[2J\\r\\nERROR"),
        "{error}"
    );
    assert_harmless(&error);
    assert!(!error.to_string().contains('\u{202e}'), "{error}");
    drop(held);
    let error = client.rw_lock("{\x1b[2J").expect_err("a brace but no tag");
    assert_harmless(&error);
}
