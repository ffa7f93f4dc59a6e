//! The locks.

use ratatui::Frame;
use ratatui::layout::{Alignment, Constraint, Rect};
use ratatui::style::Modifier;
use ratatui::text::Line;
use ratatui::widgets::{Cell, Row, Table, TableState};

use super::attention;
use crate::hidden::plain;
use crate::top::model;
use crate::who;

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, rows: &[model::Row], state: &mut TableState) {
    let number = |text: String| Cell::from(Line::from(text).alignment(Alignment::Right));
    let heading = Row::new([
        Cell::from("LOCK"),
        Cell::from("KIND"),
        Cell::from("MODE"),
        number("HELD".into()),
        number("LEASE".into()),
        number("WAIT".into()),
        number("LONGEST".into()),
        number("CHG/s".into()),
        Cell::from("HELD BY"),
    ]);
    // The figures and the gaps take 47; three fifths of the rest are for the name.
    let width = area.width.saturating_sub(47) * 3 / 5;
    let rows = rows.iter().map(|row| {
        Row::new([
            Cell::from(cut(&plain(&row.lock.name), width.into())),
            Cell::from(who::kind(row.lock.kind)),
            Cell::from(row.mode()),
            number(who::held_for(&row.lock.info)),
            number(who::lease_left(&row.lock.info)),
            number(row.lock.info.waiter_count().to_string()),
            number(who::longest_wait(&row.lock.info)),
            number(rate(row.rate)),
            Cell::from(who::held_by(&row.lock.info)),
        ])
        .style(attention(!row.lock.info.waiters.is_empty()))
    });
    let widths = [
        Constraint::Length(width),
        Constraint::Length(5),
        Constraint::Length(5),
        Constraint::Length(6),
        Constraint::Length(6),
        Constraint::Length(4),
        Constraint::Length(7),
        Constraint::Length(5),
        Constraint::Fill(1),
    ];
    let table = Table::new(rows, widths)
        .header(heading.style(Modifier::REVERSED))
        .row_highlight_style(Modifier::REVERSED);
    frame.render_stateful_widget(table, area, state);
}

/// As much of a name as there is room for.
fn cut(name: &str, width: usize) -> String {
    if name.chars().count() <= width {
        return name.to_owned();
    }
    let start: String = name.chars().take(width.saturating_sub(1)).collect();
    start + "…"
}

/// A rate; beyond what looking can tell, only that it is more.
fn rate(rate: f64) -> String {
    if rate > 8.0 {
        ">8".to_owned()
    } else {
        format!("{rate:.1}")
    }
}
