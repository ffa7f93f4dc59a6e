//! Names that would do something to a terminal.

use crate::tool::{Tool, say};

const NAME: &str = "evil\u{1b}[2J\nfree: held\u{9b}31m\u{202e}";
const SHOWN: &str = r"evil\u{1b}[2J\nfree: held\u{9b}31m\u{202e}";

#[tokio::test]
async fn control_characters_are_shown_and_not_carried_out() {
    let tool = Tool::on_cluster().await;
    let lock = tool.client.rw_lock(NAME).expect("valid").owner("\u{7}o\tb");
    let guard = lock.write().await.expect("free");
    for command in [&["list"][..], &["inspect", NAME], &["top"]] {
        let said = tool.say(command).await;
        assert_eq!(said.code, 0, "{said:?}");
        assert!(said.out.contains(SHOWN), "{said:?}");
        assert!(said.out.contains(r"\u{7}o\tb"), "{said:?}");
        assert_harmless(&said.out);
    }
    let id = tool.info(NAME).await.holders[0].id.clone();
    let release = tool
        .say(&["force-release", NAME, "--hold", &id, "--yes"])
        .await;
    assert!(release.out.contains(SHOWN), "{release:?}");
    assert_harmless(&release.out);
    assert!(guard.release().await.is_err_and(|error| error.is_lost()));

    let json = tool.say(&["inspect", NAME, "--json"]).await.json();
    assert_eq!(json["key"], NAME, "JSON has its own way");
}

#[tokio::test]
async fn errors_show_them_too() {
    for command in [
        &["inspect", "{\u{1b}c\nfine"][..],
        &["--url", "redis://\u{1b}c", "list"],
        &["run", "--key", "a}\u{7}", "--", "true"],
    ] {
        let said = say(command).await;
        assert_ne!(said.code, 0);
        assert_harmless(&said.err);
        assert_eq!(said.err.lines().count(), 1, "{said:?}");
    }
}

fn assert_harmless(text: &str) {
    let odd = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
    assert!(!text.contains(odd), "{text:?}");
}
