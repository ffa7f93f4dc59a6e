//! `dlock run`, when all goes well.

use std::time::{Duration, Instant};

use dlock_tests::wait_until;

use crate::tool::{Tool, WITHIN, told};

#[tokio::test]
async fn the_command_has_key_and_token_and_its_exit_code_is_passed_on() {
    let tool = Tool::on_cluster().await;
    let script = "echo key=$DLOCK_KEY; echo token=$DLOCK_TOKEN; exit 7";
    let run = [
        "run", "--key", "nightly", "--json", "--", "sh", "-c", script,
    ];
    let said = tool.say(&run).await;
    assert_eq!(said.code, 7, "{said:?}");
    let token = said
        .out
        .lines()
        .find_map(|line| line.strip_prefix("token="));
    let token: u64 = token.expect("a token").parse().expect("a number");
    assert!(said.out.contains("key=nightly\n"));
    let info = tool.info("nightly").await;
    assert_eq!(
        info.last_token.map(dlock::FencingToken::as_u64),
        Some(token)
    );
    assert!(info.holders.is_empty());
    let told = format!("\"token\":\"{token}\"");
    assert!(
        said.err.contains("\"event\":\"held\"") && said.err.contains(&told),
        "{said:?}"
    );
    assert!(said.err.contains("\"event\":\"ended\"") && said.err.contains("\"exit\":7"));
}

#[tokio::test]
async fn ends_by_signal_and_commands_that_do_not_start_have_the_codes_of_a_shell() {
    let tool = Tool::on_cluster().await;
    for (command, code) in [
        (&["sh", "-c", "kill -9 $$"][..], 137),
        (&["/no/such/command"], 127),
        (&["/etc/passwd"], 126),
    ] {
        let run = [&["run", "--key", "codes", "--"], command].concat();
        assert_eq!(tool.say(&run).await.code, code, "{command:?}");
        tool.wait_free("codes").await;
    }
}

#[tokio::test]
async fn a_busy_lock_is_not_waited_for_longer_than_asked() {
    let tool = Tool::on_cluster().await;
    let lock = tool.client.rw_lock("busy").expect("valid");
    let guard = lock.write().await.expect("free");
    for wait in ["0", "100ms"] {
        let said = tool
            .say(&["run", "--key", "busy", "--wait", wait, "--", "echo", "ran"])
            .await;
        assert_eq!(said.code, 75, "{said:?}");
        assert!(
            !said.out.contains("ran"),
            "the command ran without the lock"
        );
        assert!(said.err.contains("busy"), "{said:?}");
    }
    let waiting = tool.start(
        &["--key", "busy", "--wait", "30s"],
        "echo token=$DLOCK_TOKEN",
    );
    wait_until(WITHIN, "the tool waits", || async {
        !tool.info("busy").await.waiters.is_empty()
    })
    .await;
    let before = guard.fencing_token().as_u64();
    guard.release().await.expect("held to the end");
    waiting.wait_success(WITHIN).await;
    let after: u64 = told(&waiting, "token").await.parse().expect("a number");
    assert!(after > before);
}

#[tokio::test]
async fn readers_share_and_the_lease_is_renewed_while_the_command_runs() {
    let tool = Tool::on_cluster().await;
    let options = ["--key", "shared", "--mode", "read", "--lease", "600ms"];
    let commands = [0, 1].map(|_| tool.start(&options, "echo ready=1; exec sleep 60"));
    for command in &commands {
        told(command, "ready").await;
    }
    let start = Instant::now();
    wait_until(WITHIN, "three leases have passed", || async {
        assert_eq!(
            tool.info("shared").await.holders.len(),
            2,
            "both still hold"
        );
        start.elapsed() > Duration::from_millis(1800)
    })
    .await;
}

#[tokio::test]
async fn the_command_does_not_see_the_password() {
    let tool = Tool::on_cluster().await;
    let script = "echo url=${DLOCK_URL-none}";
    for (options, url) in [(&[][..], "none"), (&["--keep-url"], tool.url())] {
        let output = tokio::process::Command::new(dlock_tests::dlock_tool())
            .args(["--prefix", tool.prefix(), "run", "--key", "secret"])
            .args(options)
            .args(["--", "sh", "-c", script])
            .env("DLOCK_URL", tool.url())
            .output()
            .await
            .expect("it starts");
        assert!(output.status.success(), "{output:?}");
        let out = String::from_utf8_lossy(&output.stdout);
        assert_eq!(out, format!("url={url}\n"), "{options:?}");
    }
}

#[tokio::test]
async fn a_command_of_the_tool_under_a_lock_says_why_it_has_no_server() {
    let tool = Tool::on_cluster().await;
    let inner = format!("{} list; exit $?", dlock_tests::dlock_tool().display());
    let run = ["run", "--key", "outer", "--", "sh", "-c", &inner];
    let said = tool.say(&run).await;
    assert_eq!(said.code, 78, "{said:?}");
    assert!(said.err.contains("--keep-url"), "{said:?}");
}

#[tokio::test]
async fn a_time_without_a_unit_counts_seconds() {
    let tool = Tool::on_cluster().await;
    let lock = tool.client.rw_lock("bare").expect("valid");
    let guard = lock.write().await.expect("free");
    let start = Instant::now();
    let run = ["run", "--key", "bare", "--wait", "1", "--", "true"];
    assert_eq!(tool.say(&run).await.code, 75);
    assert!(start.elapsed() >= Duration::from_secs(1));
    guard.release().await.expect("held to the end");
    let help = tool.say(&["run", "--help"]).await.out;
    let help: Vec<_> = help.split_whitespace().collect();
    assert!(help.join(" ").contains("a bare number counts seconds"));
}

#[tokio::test]
async fn a_command_that_ends_early_leaves_the_lock_held_for_min_hold() {
    let tool = Tool::on_cluster().await;
    let run = ["run", "--key", "brief", "--min-hold", "1m", "--"];
    for (exit, key) in [("0", "brief"), ("3", "failing")] {
        let mut run = run;
        run[2] = key;
        let run = [&run[..], &["sh", "-c", "exit $0", exit]].concat();
        assert_eq!(tool.say(&run).await.code.to_string(), exit);
        let holders = tool.info(key).await.holders;
        assert_eq!(holders.len(), 1, "{key}");
        // And a moment longer, as no client releases it.
        assert!(
            holders[0].remaining <= Duration::from_millis(60_200),
            "{key}"
        );
        let again = ["run", "--key", key, "--wait", "0", "--", "true"];
        assert_eq!(tool.say(&again).await.code, 75, "{key}");
    }
    let too_long = ["run", "--key", "day", "--min-hold", "25h", "--", "true"];
    assert_eq!(tool.say(&too_long).await.code, 78);
}

#[tokio::test]
async fn who_waits_gets_the_lock_when_min_hold_is_over() {
    let tool = Tool::on_cluster().await;
    let start = Instant::now();
    let run = [
        "run",
        "--key",
        "soon",
        "--min-hold",
        "2s",
        "--wait",
        "30s",
        "--",
        "true",
    ];
    for _ in 0..2 {
        assert_eq!(tool.say(&run).await.code, 0);
    }
    assert!(start.elapsed() >= Duration::from_secs(2));
}
