//! `dlock inspect --watch`.

use dlock_tests::wait_until;
use serde_json::Value;

use crate::terminal::{LARGE, SMALL, Terminal};
use crate::tool::{Tool, WITHIN};

#[tokio::test]
async fn it_looks_again_and_again() {
    let tool = Tool::on_cluster().await;
    let lock = tool.client.rw_lock("watched").expect("valid");
    let guard = lock.write().await.expect("free");
    let watch = [
        "inspect", "watched", "--watch", "--json", "-i", "100ms", "-n", "3",
    ];
    let said = tool.say(&watch).await;
    assert_eq!(said.code, 0, "{said:?}");
    let looks: Vec<Value> = said
        .out
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    assert_eq!(looks.len(), 3);
    let held = |look: &Value| look["holders"][0]["held_ms"].as_u64().expect("a number");
    assert!(looks.is_sorted_by(|a, b| held(a) < held(b)), "{looks:?}");
    guard.release().await.expect("held to the end");
}

#[tokio::test]
async fn in_a_terminal_it_draws_what_has_changed() {
    let tool = Tool::on_cluster().await;
    let lock = tool.client.rw_lock("watched").expect("valid");
    for size in [SMALL, LARGE] {
        let guard = lock.write().await.expect("free");
        let watch = tool.arguments(&["inspect", "watched", "--watch", "-i", "100ms"]);
        let terminal = Terminal::start(&watch, size);
        wait_until(WITHIN, "it shows the holder", || async {
            terminal.shown().contains("watched: held for writing")
        })
        .await;
        guard.release().await.expect("held to the end");
        wait_until(WITHIN, "it shows that nobody holds it", || async {
            terminal.shown().contains("watched: free")
        })
        .await;
    }
}
