//! How it looks, and what keys do.

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Cell;
use ratatui::crossterm::event::KeyCode;

use super::View;
use crate::top::model::{Load, Picture, Row};

/// Locks of a store in memory: `LockInfo` cannot be made up outside of the library.
async fn picture() -> Picture {
    let client = dlock::Client::builder().name("web-1");
    let client = client.build().await.expect("memory is always there");
    let mut rows = Vec::new();
    for name in [
        "user:7",
        "order:42",
        "a-name-much-longer-than-its-column-is-wide",
    ] {
        let lock = client.rw_lock(name).expect("valid");
        let _guard = lock.write().await.expect("free");
        let info = lock.inspect().await.expect("answers");
        rows.push(Row {
            name: name.to_owned(),
            info,
            rate: if name == "order:42" { 12.0 } else { 0.2 },
        });
    }
    Picture {
        rows,
        scans: 1,
        load: Some(Load {
            servers: 3,
            rate: 154.4,
            micros: 67.0,
        }),
        trouble: None,
    }
}

fn lines(view: &mut View) -> Vec<String> {
    let mut terminal = Terminal::new(TestBackend::new(80, 24)).expect("a terminal");
    terminal.draw(|frame| view.draw(frame)).expect("drawn");
    let buffer = terminal.backend().buffer();
    let text: Vec<&str> = buffer.content().iter().map(Cell::symbol).collect();
    text.chunks(80)
        .map(|line| line.concat().trim_end().to_owned())
        .collect()
}

#[tokio::test]
async fn eighty_by_twenty_four_shows_everything() {
    let mut view = View::new("redis://h:1  prefix dlock".to_owned());
    view.take(picture().await);
    let shown = lines(&mut view);
    assert_eq!(shown[0], "dlock top  redis://h:1  prefix dlock");
    assert!(shown[1].starts_with("3 held  0 contended  0 waiting  |  154 scripts/s, 67 us each"));
    assert!(shown[2].starts_with("LOCK ") && shown[2].ends_with("HELD BY"));
    assert!(shown[3].starts_with("a-name-much-longer-") && shown[3].contains("… write"));
    assert!(shown[4].contains("order:42") && shown[4].contains(">8"));
    assert!(shown[4].ends_with("web-1"));
    assert!(shown[15].contains("a-name-much-longer-than-its-column-is-wide"));
    assert!(shown[16].starts_with("holds  write"));
    assert!(shown[23].starts_with("q quit"));
}

#[tokio::test]
async fn keys_sort_select_pause_and_quit() {
    let mut view = View::new(String::new());
    view.take(picture().await);
    assert!(view.press(KeyCode::Char('s')));
    assert!(
        lines(&mut view)[3].contains("order:42"),
        "most changes first"
    );
    assert!(view.press(KeyCode::Down));
    let selected = view.selected.clone().expect("a lock");
    assert!(view.press(KeyCode::Char('s')));
    view.take(picture().await);
    assert!(
        lines(&mut view)[15].contains(&selected),
        "it stays selected"
    );
    assert!(view.press(KeyCode::Char('p')));
    view.take(Picture::default());
    assert!(lines(&mut view)[3].contains("a-name"), "paused");
    assert!(!view.press(KeyCode::Char('q')));
}
