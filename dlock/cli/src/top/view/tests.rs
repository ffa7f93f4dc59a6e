//! How it looks, and what keys do.

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Cell;
use ratatui::crossterm::event::KeyCode;

use dlock::{LockInfo, LockKind};

use super::View;
use crate::list::Found;
use crate::top::model::{Load, Picture, Row};

/// Locks of a store in memory: `LockInfo` cannot be made up outside of the library.
async fn picture() -> Picture {
    let client = dlock::Client::builder().client_name("web-1");
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
            lock: found(name, info),
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

fn found(name: &str, info: LockInfo) -> Found {
    Found {
        name: name.to_owned(),
        kind: LockKind::Rw,
        info,
    }
}

fn lines(view: &mut View) -> Vec<String> {
    lines_of(view, 80, 24)
}

fn lines_of(view: &mut View, columns: u16, rows: u16) -> Vec<String> {
    let mut terminal = Terminal::new(TestBackend::new(columns, rows)).expect("a terminal");
    terminal.draw(|frame| view.draw(frame)).expect("drawn");
    let buffer = terminal.backend().buffer();
    let text: Vec<&str> = buffer.content().iter().map(Cell::symbol).collect();
    text.chunks(columns.into())
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
    assert!(shown[3].starts_with("a-name-much-longer") && shown[3].contains("… rw    write"));
    assert!(shown[4].contains("order:42") && shown[4].contains(">8"));
    assert!(shown[4].ends_with("web-1"));
    assert!(shown[15].contains("a-name-much-longer-than-its-column-is-wide"));
    assert!(shown[16].starts_with("holds  write"));
    assert!(shown[23].starts_with("q Esc quit"));
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
        lines(&mut view)[15].contains(&selected.name),
        "it stays selected"
    );
    assert!(view.press(KeyCode::Char('p')));
    view.take(Picture::default());
    assert!(lines(&mut view)[3].contains("a-name"), "paused");
    assert!(!view.press(KeyCode::Char('q')));
}

#[tokio::test]
async fn a_mutex_is_told_from_a_lock_of_its_name() {
    let client = dlock::Client::builder().client_name("web-1");
    let client = client.build().await.expect("memory is always there");
    let mutex = client.mutex("user:7").expect("valid");
    let _guard = mutex.lock().await.expect("free");
    let info = mutex.inspect().await.expect("answers");
    let lock = Found {
        kind: LockKind::Mutex,
        ..found("user:7", info)
    };
    let mut picture = picture().await;
    picture.rows.push(Row { lock, rate: 0.0 });
    let mut view = View::new(String::new());
    view.take(picture);
    let shown = lines(&mut view);
    let of_that_name = shown[3..7].iter().filter(|row| row.starts_with("user:7 "));
    let kinds: Vec<_> = of_that_name
        .map(|row| row.split_whitespace().nth(1))
        .collect();
    assert_eq!(kinds, [Some("rw"), Some("mutex")]);
    assert!(
        shown[6].contains(" - ") && shown[6].ends_with("web-1"),
        "{}",
        shown[6]
    );
}

#[tokio::test]
async fn a_hold_that_may_linger_is_shown_as_such() {
    let client = dlock::Client::builder().client_name("web-1");
    let client = client.build().await.expect("memory is always there");
    let lock = client.rw_lock("user:7").expect("valid");
    let lock = lock.linger(std::time::Duration::from_secs(60));
    let guard = lock.read().await.expect("free");
    guard.release().await.expect("held to the end");
    let info = lock.inspect().await.expect("answers");
    let mut view = View::new(String::new());
    view.take(Picture {
        rows: vec![Row {
            lock: found("user:7", info),
            rate: 0.0,
        }],
        scans: 1,
        ..Picture::default()
    });
    let shown = lines(&mut view);
    assert!(shown[3].contains(" read ") && shown[3].ends_with("web-1"));
    assert!(
        shown[16].starts_with("holds  read, may linger "),
        "{}",
        shown[16]
    );
    let json = view.picture.to_json();
    assert_eq!(json["locks"][0]["holders"][0]["may_linger"], true);
    assert_eq!(
        picture().await.to_json()["locks"][0]["holders"][0]["may_linger"],
        false
    );
}

#[tokio::test]
async fn the_last_line_names_every_key_in_every_state() {
    let mut view = View::new(String::new());
    view.take(picture().await);
    for (columns, rows) in [(80, 24), (120, 40)] {
        for key in ['s', 's', 's', 'p', 'p'] {
            view.press(KeyCode::Char(key));
            let shown = lines_of(&mut view, columns, rows);
            let help = shown.last().expect("there are lines");
            for key in [
                "q Esc quit",
                "↑↓",
                "j k",
                "PgUp PgDn",
                "Home End select",
                "s sort",
                "p space",
            ] {
                assert!(help.contains(key), "{key}: {help}");
            }
            assert!(help.ends_with("pause") || help.ends_with("go on"), "{help}");
        }
    }
}

#[tokio::test]
async fn how_long_it_is_held_and_names_that_move_cursors_are_shown() {
    let client = dlock::Client::builder().client_name("web-1");
    let client = client.build().await.expect("memory is always there");
    let lock = client.rw_lock("evil\u{1b}[2J\nname").expect("valid");
    let _guard = lock.write().await.expect("free");
    let info = lock.inspect().await.expect("answers");
    let name = lock.key().name().to_owned();
    let rows = vec![Row {
        lock: found(&name, info),
        rate: 0.0,
    }];
    let mut view = View::new(String::new());
    view.take(Picture {
        rows,
        scans: 1,
        ..Picture::default()
    });
    for (columns, rows) in [(80, 24), (120, 40)] {
        let shown = lines_of(&mut view, columns, rows);
        for heading in ["LOCK", "HELD", "LEASE", "LONGEST", "HELD BY"] {
            assert!(shown[2].contains(heading), "{}", shown[2]);
        }
        assert!(shown[3].contains(r"evil\u{1b}[2J\nname"), "{}", shown[3]);
        assert!(shown[3].contains("ms") && shown[3].ends_with("web-1"));
    }
}
