//! Mutexes, which programs in other languages take, too. They have no prefix: each test's key is a name of its own.

use dlock_tests::{dlock_tool, shared_server, wait_until};
use tokio::process::Command;

use crate::tool::{Tool, WITHIN, told};

const SCRIPT: &str = "echo key=$DLOCK_KEY; echo token=${DLOCK_TOKEN-none}; exit 7";

#[tokio::test]
async fn the_command_under_a_mutex_has_a_token_only_if_there_is_one() {
    let tool = Tool::on_cluster().await;
    let name = format!("{}:nightly", tool.prefix());
    for (options, fenced) in [(&["--mutex"][..], false), (&["--mutex", "--fenced"], true)] {
        let run = [
            &["run", "--key", &name, "--json"],
            options,
            &["--", "sh", "-c", SCRIPT],
        ];
        let output = Command::new(dlock_tool())
            .args(tool.arguments(&run.concat()))
            // As of another `dlock run` around it.
            .env("DLOCK_TOKEN", "17")
            .output()
            .await
            .expect("it starts");
        assert_eq!(output.status.code(), Some(7), "{output:?}");
        let out = String::from_utf8_lossy(&output.stdout);
        assert!(out.contains(&format!("key={name}\n")), "{out}");
        let token = out.lines().find_map(|line| line.strip_prefix("token="));
        let token = token.expect("it is told").parse::<u64>();
        assert_eq!(
            token.as_ref().is_ok_and(|token| *token > 17),
            fenced,
            "{out}"
        );
        let err = String::from_utf8_lossy(&output.stderr);
        assert!(err.contains("\"event\":\"held\""), "{err}");
        assert_eq!(err.contains("\"token\":null"), !fenced, "{err}");
    }
}

#[tokio::test]
async fn a_mutex_is_held_while_the_command_runs() {
    let tool = Tool::on_cluster().await;
    let name = format!("{}:x", tool.prefix());
    let command = tool.start(&["--key", &name, "--mutex"], "echo ready=1; exec sleep 60");
    told(&command, "ready").await;

    let busy = [
        "run", "--key", &name, "--mutex", "--wait", "0", "--", "true",
    ];
    let busy = tool.say(&busy).await;
    assert_eq!(busy.code, 75, "{busy:?}");
    assert!(
        busy.err.contains(&format!("dlock inspect --mutex {name}")),
        "{busy:?}"
    );

    let said = tool.say(&["inspect", "--mutex", &name]).await;
    assert!(
        said.out.starts_with(&format!("{name}: held, no tokens\n")),
        "{said:?}"
    );
    let json = tool
        .say(&["inspect", "--mutex", &name, "--json"])
        .await
        .json();
    assert_eq!(
        (&json["kind"], &json["mode"]),
        (&"mutex".into(), &"write".into())
    );
    let hold = &json["holders"][0];
    assert!(
        hold["token"].is_null() && hold["held_ms"].is_null(),
        "{json}"
    );
    assert!(hold["lease_left_ms"].as_u64() > Some(10_000), "{json}");

    // A read/write lock of that name is another lock, and yet the error about it names this mutex.
    let both = tool.say(&["inspect", &name]).await.out;
    let free = format!("{name} (read/write lock): free, no token remembered\n");
    let heading = format!("{name} (mutex): held, no tokens\n");
    assert!(both.starts_with(&free) && both.contains(&heading), "{both}");
    let both = tool.say(&["inspect", &name, "--json"]).await.json();
    assert_eq!(both["kind"], "rw");
    assert_eq!(both["mutex"]["holders"][0]["id"], hold["id"]);
    let id = hold["id"].as_str().expect("an id");
    let release = ["force-release", "--mutex", &name, "--hold", id, "--yes"];
    assert_eq!(tool.say(&release).await.code, 0);
    let said = tool.say(&["inspect", "--mutex", &name]).await;
    assert_eq!(said.out, format!("{name}: free, no tokens\n"));
    let said = tool.say(&["inspect", &name]).await;
    assert_eq!(said.out, format!("{name}: free, no token remembered\n"));
}

#[tokio::test]
async fn the_hold_of_another_program_is_shown_and_left_alone() {
    let url = shared_server().await.url();
    let tool = Tool::on(&url).await;
    let name = format!("{}:theirs", tool.prefix());
    let server = redis::Client::open(url).expect("a valid URL");
    let mut server = server.get_connection().expect("the server answers");
    let mut set = redis::cmd("SET");
    // What base64 makes of random bytes, which need not be text at all.
    set.arg(&name)
        .arg(b"a/b/+\xff==\x1b[2J")
        .arg("PX")
        .arg(60_000);
    let () = set.query(&mut server).expect("it is set");

    let busy = [
        "run", "--key", &name, "--mutex", "--wait", "0", "--", "true",
    ];
    assert_eq!(tool.say(&busy).await.code, 75);
    let said = tool.say(&["inspect", "--mutex", &name]).await;
    assert!(said.out.contains("another program"), "{said:?}");
    assert!(!said.out.contains('\u{1b}'), "{said:?}");
    let json = tool
        .say(&["inspect", "--mutex", &name, "--json"])
        .await
        .json();
    let id = json["holders"][0]["id"].as_str().expect("an id");
    assert!(json["holders"][0]["name"].is_null(), "{json}");
    let release = ["force-release", "--mutex", &name, "--hold", id, "--yes"];
    let refused = tool.say(&release).await;
    assert_eq!(refused.code, 78, "{refused:?}");
    let held: bool = redis::cmd("EXISTS")
        .arg(&name)
        .query(&mut server)
        .expect("answers");
    assert!(held);

    let waiting = tool.start(&["--key", &name, "--mutex"], "echo ready=1");
    wait_until(WITHIN, "it says for whom it waits", || async {
        waiting.output().contains("held by another program")
    })
    .await;
    let () = redis::cmd("DEL")
        .arg(&name)
        .query(&mut server)
        .expect("answers");
    waiting.wait_success(WITHIN).await;
}

#[tokio::test]
async fn list_and_top_tell_mutexes_from_read_write_locks() {
    let tool = Tool::on_cluster().await;
    let name = format!("{}:order", tool.prefix());
    let fenced = tool
        .client
        .mutex(&name)
        .expect("valid")
        .fenced()
        .expect("one slot");
    let guard = fenced.lock().await.expect("free");
    let lock = tool.client.rw_lock(&name).expect("valid");
    let reading = lock.read().await.expect("free");
    for command in ["list", "top"] {
        let said = tool.say(&[command, &name]).await.out;
        let rows: Vec<Vec<&str>> = said
            .lines()
            .map(|line| line.split_whitespace().take(3).collect())
            .collect();
        let expected = [
            vec!["LOCK", "KIND", "MODE"],
            vec![&name, "mutex", "write"],
            vec![&name, "rw", "read"],
        ];
        assert_eq!(rows, expected, "{command}: {said}");
    }
    let json = tool.say(&["list", &name, "--json"]).await.json();
    assert_eq!(json[0]["kind"], "mutex");
    assert_eq!(json[1]["kind"], "rw");
    let top = tool.say(&["top", &name, "--json", "-n", "1"]).await.json();
    assert_eq!(top["held"], 2, "{top}");
    guard.release().await.expect("held to the end");
    reading.release().await.expect("held to the end");
}
