//! `dlock run` says that it waits, and for which holder.

use dlock_tests::wait_until;

use crate::tool::{Tool, WITHIN};

#[tokio::test]
async fn it_names_the_holder_for_whom_it_waits() {
    let tool = Tool::on_cluster().await;
    let lock = tool.client.rw_lock("busy").expect("valid");
    let guard = lock.write().await.expect("free");
    let run = tool.start(&["--key", "busy"], "echo ran=1");
    wait_until(WITHIN, "it says that it waits", || async {
        run.output().contains("waiting")
    })
    .await;
    let said = run.output();
    assert!(said.contains("dlock: busy: waiting"), "{said}");
    assert!(said.contains("held for writing by test"), "{said}");
    let json = tool.start(&["--key", "busy", "--json"], "echo ran=1");
    wait_until(WITHIN, "it says so in JSON", || async {
        json.output().contains("\"event\":\"waiting\"")
    })
    .await;
    let event = json.output();
    let event: serde_json::Value = serde_json::from_str(event.trim()).expect("one line");
    assert_eq!(event["holders"][0]["mode"], "write");
    assert_eq!(event["key"], "busy");
    guard.release().await.expect("held to the end");
    run.wait_success(WITHIN).await;
    json.wait_success(WITHIN).await;
}

#[tokio::test]
async fn quiet_it_does_not() {
    let tool = Tool::on_cluster().await;
    let lock = tool.client.rw_lock("busy").expect("valid");
    let guard = lock.write().await.expect("free");
    let loud = tool.start(&["--key", "busy"], "true");
    let quiet = tool.start(&["--key", "busy", "--quiet"], "true");
    wait_until(WITHIN, "both wait, and one says so", || async {
        loud.output().contains("waiting") && tool.info("busy").await.waiters.len() == 2
    })
    .await;
    guard.release().await.expect("held to the end");
    loud.wait_success(WITHIN).await;
    quiet.wait_success(WITHIN).await;
    assert_eq!(quiet.output(), "");
}
