//! `inspect`, `list`, `release` and `completions`.

use std::time::Duration;

use dlock_tests::{shared_cluster, wait_for, wait_until};

use crate::tool::{Tool, WITHIN, say};

#[tokio::test]
async fn inspect_tells_who_holds_the_lock() {
    let tool = Tool::on_cluster().await;
    let lock = tool.client.rw_lock("order:42").expect("valid");
    let guard = lock.owner("workflow-7").write().await.expect("free");
    let said = tool.say(&["inspect", "order:42"]).await;
    assert_eq!(said.code, 0, "{said:?}");
    for part in [
        "order:42: held for writing",
        "HELD FOR",
        "LEASE LEFT",
        "workflow-7",
        "test/",
    ] {
        assert!(said.out.contains(part), "{part}: {}", said.out);
    }
    let json = tool.say(&["inspect", "order:42", "--json"]).await.json();
    assert_eq!(json["mode"], "write");
    // A string: 64 bits are more than many readers of JSON keep of a number.
    let token = guard.fencing_token().to_string();
    assert_eq!(json["holders"][0]["token"], token.as_str());
    assert_eq!(json["last_token"], token.as_str());
    let listed = tool.say(&["list", "order:*", "--json"]).await.json();
    assert_eq!(listed[0]["holders"][0]["token"], token.as_str());
    assert_eq!(json["holders"][0]["owner"], "workflow-7");
    let left = json["holders"][0]["lease_left_ms"]
        .as_u64()
        .expect("a number");
    assert!((20_000..=30_000).contains(&left), "{left}");
    let free = tool.say(&["inspect", "never-used"]).await;
    assert_eq!(free.out, "never-used: free, no token remembered\n");
}

#[tokio::test]
async fn a_hold_that_may_linger_is_shown_as_such() {
    let tool = Tool::on_cluster().await;
    let lock = tool.client.rw_lock("order:42").expect("valid");
    let kept = lock.linger(Duration::from_secs(60));
    let guard = kept.write().await.expect("free");
    guard.release().await.expect("held to the end");
    let said = tool.say(&["inspect", "order:42"]).await.out;
    assert!(said.contains("  write, may linger  "), "{said}");
    let said = tool.say(&["inspect", "order:42", "--json"]).await.json();
    assert_eq!(said["holders"][0]["may_linger"], true, "{said}");
    let said = tool.say(&["top", "--json", "-n", "1"]).await.json();
    let holder = &said["locks"][0]["holders"][0];
    assert_eq!(holder["may_linger"], true, "{said}");

    let other = tool.client.rw_lock("order:43").expect("valid");
    let _guard = other.write().await.expect("free");
    let said = tool.say(&["inspect", "order:43"]).await.out;
    assert!(!said.contains("linger"), "{said}");
    let said = tool.say(&["inspect", "order:43", "--json"]).await.json();
    assert_eq!(said["holders"][0]["may_linger"], false, "{said}");
}

/// What the guide says about a lock that was lost as `removed`: a last token means a release, none means nothing.
#[tokio::test]
async fn a_last_token_is_shown_after_a_release_until_the_lease_would_have_ended() {
    let tool = Tool::on_cluster().await;
    let lock = tool.client.rw_lock("order:42").expect("valid");
    let last_token = async || {
        let json = tool.say(&["inspect", "order:42", "--json"]).await.json();
        assert_eq!(json["holders"], serde_json::json!([]), "{json}");
        json["last_token"].clone()
    };

    let key = lock.key().as_str();
    let guard = lock.write().await.expect("free");
    let token = guard.fencing_token().to_string();
    guard.release().await.expect("held to the end");
    assert_eq!(last_token().await, token.as_str());
    let deleted: i64 = shared_cluster().await.query(key, &["DEL", key]).await;
    assert_eq!((deleted, last_token().await), (1, serde_json::Value::Null));

    let short = lock.clone().lease(Duration::from_secs(1));
    short
        .write()
        .await
        .expect("free")
        .release()
        .await
        .expect("held to the end");
    wait_until(
        WITHIN,
        "a lock that was released is forgotten, too",
        || async { last_token().await.is_null() },
    )
    .await;
}

#[tokio::test]
async fn how_long_somebody_holds_and_others_wait_is_shown_with_their_names() {
    let tool = Tool::on_cluster().await;
    let lock = tool.client.rw_lock("slow").expect("valid");
    let guard = lock.write().await.expect("free");
    let waiter = dlock::Client::builder()
        .url(tool.url())
        .prefix(tool.prefix());
    let waiter = waiter
        .client_name("web-2")
        .build()
        .await
        .expect("the servers run");
    let wanted = waiter.rw_lock("slow").expect("valid");
    let wanted = tokio::spawn(async move { wanted.read().await });
    let long = Duration::from_millis(1200);
    let info = wait_for(WITHIN, "somebody waits for long", || async {
        let info = tool.info("slow").await;
        let long = info.waiters.first()?.waiting_for >= long;
        long.then_some(info)
    })
    .await;
    let held = info.holders[0].held_for;
    assert!(held >= Some(info.waiters[0].waiting_for), "{info:?}");
    assert!(
        info.waiters[0].remaining > Duration::from_secs(1),
        "its place is kept: {info:?}"
    );

    let json = tool.say(&["inspect", "slow", "--json"]).await.json();
    for (who, time) in [
        (&json["holders"][0], "held_ms"),
        (&json["waiters"][0], "waiting_ms"),
    ] {
        let ms = who[time].as_u64().expect("a number");
        assert!((1200..30_000).contains(&ms), "{json}");
    }
    assert_eq!(json["holders"][0]["name"], "test");
    assert_eq!(json["waiters"][0]["name"], "web-2");
    let said = tool.say(&["inspect", "slow"]).await.out;
    for part in ["HELD BY", "HELD FOR", "WAITING FOR", "test ", "web-2 "] {
        assert!(said.contains(part), "{part}: {said}");
    }
    for command in ["list", "top"] {
        let said = tool.say(&[command]).await.out;
        for part in ["HELD BY", "HELD FOR", "LONGEST WAIT", "test"] {
            assert!(said.contains(part), "{command}, {part}: {said}");
        }
    }
    guard.release().await.expect("held to the end");
    let next = wanted.await.expect("no panic").expect("its turn");
    next.release().await.expect("held to the end");
}

#[tokio::test]
async fn list_finds_the_locks_on_all_masters() {
    let tool = Tool::on_cluster().await;
    let mut guards = Vec::new();
    let mut names = Vec::new();
    for n in 0..30 {
        let name = format!("order:{n:02}");
        let lock = tool.client.rw_lock(&name).expect("valid");
        guards.push(lock.write().await.expect("free"));
        names.push(name);
    }
    let tagged = tool.client.rw_lock("{tenant:7}:x").expect("valid");
    let reading = tagged.read().await.expect("free");
    let json = tool.say(&["list", "order:*", "--json"]).await.json();
    let found = json.as_array().expect("an array").iter();
    let found: Vec<_> = found.filter_map(|lock| lock["key"].as_str()).collect();
    assert_eq!(found, names);
    let one = tool.say(&["list", "order:0?"]).await;
    assert_eq!(one.out.lines().count(), 11, "{}", one.out);
    assert!(one.out.starts_with("LOCK "), "{}", one.out);
    let all = tool.say(&["list"]).await;
    assert!(all.out.contains("{tenant:7}:x  rw    read"), "{}", all.out);

    // What was held a moment ago is remembered by the server, but not shown.
    drop(guards);
    reading.release().await.expect("held to the end");
    tool.client.shutdown().await.expect("all given back");
    let none = tool.say(&["list"]).await;
    assert_eq!(none.out, "no lock is held or waited for\n");
}

#[tokio::test]
async fn release_takes_a_hold_away_but_only_when_sure() {
    let tool = Tool::on_cluster().await;
    let lock = tool.client.rw_lock("stuck").expect("valid");
    let guard = lock.write().await.expect("free");
    let id = tool.info("stuck").await.holders[0].id.clone();

    let unsure = tool.say(&["force-release", "stuck", "--hold", &id]).await;
    assert_eq!(unsure.code, 64, "nobody to ask: {unsure:?}");
    assert!(unsure.err.contains("--yes"));
    let other = "nobody/0123456789abcdef/1";
    let stranger = tool
        .say(&["force-release", "stuck", "--hold", other, "--yes"])
        .await;
    assert_eq!(stranger.code, 1, "{stranger:?}");
    guard.check().expect("still held");

    let done = tool
        .say(&["force-release", "stuck", "--hold", &id, "--yes", "--json"])
        .await;
    assert_eq!(done.code, 0, "{done:?}");
    assert_eq!(done.json()["released"], true);
    assert!(tool.info("stuck").await.holders.is_empty());
    assert!(guard.release().await.is_err_and(|error| error.is_lost()));
}

#[tokio::test]
async fn completions_know_the_sub_commands() {
    for shell in ["bash", "zsh", "fish"] {
        let said = say(&["completions", shell]).await;
        assert_eq!(said.code, 0);
        for word in ["run", "inspect", "list", "top", "force-release"] {
            assert!(said.out.contains(word), "{shell}: {word}");
        }
    }
}
