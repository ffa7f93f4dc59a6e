//! `dlock top` without a terminal; how it looks in one is tested next to its view.

use crate::tool::Tool;

#[tokio::test]
async fn it_prints_a_table_when_nobody_watches() {
    let tool = Tool::on_cluster().await;
    let lock = tool.client.rw_lock("busy").expect("valid");
    let guard = lock.read().await.expect("free");
    let said = tool.say(&["top"]).await;
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.out.contains("busy  read"), "{}", said.out);
    guard.release().await.expect("held to the end");
}

#[tokio::test]
async fn it_prints_json_lines_with_rates() {
    let tool = Tool::on_cluster().await;
    let lock = tool.client.rw_lock("busy").expect("valid");
    let guard = lock.write().await.expect("free");
    let said = tool.say(&["top", "--json", "-n", "2", "-i", "200ms"]).await;
    let pictures: Vec<serde_json::Value> = said
        .out
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    assert_eq!(pictures.len(), 2, "{said:?}");
    assert_eq!(pictures[1]["held"], 1);
    assert_eq!(pictures[1]["locks"][0]["key"], "busy");
    assert!(pictures[1]["locks"][0]["changes_per_second"].is_number());
    assert!(pictures[1]["scripts_per_second"].is_number());
    guard.release().await.expect("held to the end");
}
