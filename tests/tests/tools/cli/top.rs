//! `dlock top`; how it looks is tested next to its view.

use dlock_tests::wait_until;

use crate::terminal::{LARGE, SMALL, Terminal};
use crate::tool::{Tool, WITHIN};

#[tokio::test]
async fn it_prints_a_table_when_nobody_watches() {
    let tool = Tool::on_cluster().await;
    let lock = tool.client.rw_lock("busy").expect("valid");
    let guard = lock.read().await.expect("free");
    let said = tool.say(&["top"]).await;
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.out.contains("busy  rw    read"), "{}", said.out);
    guard.release().await.expect("held to the end");
}

#[tokio::test]
async fn several_tables_have_their_times() {
    let tool = Tool::on_cluster().await;
    let said = tool.say(&["top", "-n", "2", "-i", "100ms"]).await;
    let times = said.out.lines().filter(|line| line.ends_with(" UTC"));
    assert_eq!(times.count(), 2, "{said:?}");
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

/// An end of input that came while the terminal was given back once left it waiting for a line. `script` sends one.
#[tokio::test]
async fn q_ends_it_even_if_the_input_ends_too() {
    let tool = Tool::on_cluster().await;
    for _ in 0..5 {
        let mut terminal = Terminal::start(&tool.arguments(&["top"]), SMALL);
        wait_until(WITHIN, "it shows its keys", || async {
            terminal.shown().contains("quit")
        })
        .await;
        terminal.press("q");
        wait_until(WITHIN, "it ends", || {
            for _ in 0..20 {
                terminal.press("\x04");
            }
            let ended = terminal.ended();
            async move { ended }
        })
        .await;
    }
}

#[tokio::test]
async fn a_line_names_every_key() {
    let tool = Tool::on_cluster().await;
    for size in [SMALL, LARGE] {
        let terminal = Terminal::start(&tool.arguments(&["top"]), size);
        wait_until(WITHIN, "it shows its keys", || async {
            let shown = terminal.shown();
            ["Esc", "PgUp", "PgDn", "Home", "End", "space", "sort"]
                .iter()
                .all(|key| shown.contains(key))
        })
        .await;
    }
}
