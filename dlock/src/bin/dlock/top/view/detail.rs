//! One lock: its holders and waiters.

use dlock::__internals::plain;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::{Block, Borders, Paragraph};

use crate::duration::short;
use crate::top::model::Row;
use crate::who;

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, row: &Row) {
    let block = Block::new()
        .borders(Borders::TOP)
        .title(format!(" {} ", plain(&row.name)));
    let lines = details(row, usize::from(area.height.saturating_sub(1)));
    frame.render_widget(Paragraph::new(lines).block(block), area);
}

/// Holders and waiters, for how long they have been so, in so many lines.
fn details(row: &Row, room: usize) -> Vec<Line<'static>> {
    let holders = row.info.holders.iter().map(|hold| {
        Line::raw(format!(
            "holds  {:5} {:>6}  {}  lease {}  token {}  {}",
            hold.mode,
            short(hold.held_for),
            who::holder(hold),
            short(hold.remaining),
            hold.token,
            plain(&hold.id),
        ))
    });
    let waiters = row.info.waiters.iter().map(|waiter| {
        Line::raw(format!(
            "waits  {:5} {:>6}  {}  {}",
            waiter.mode,
            short(waiter.waiting_for),
            who::name(&waiter.id),
            plain(&waiter.id),
        ))
    });
    let mut lines: Vec<_> = holders.chain(waiters).collect();
    if lines.len() > room || row.info.more_holders + row.info.more_waiters > 0 {
        lines.truncate(room.saturating_sub(1));
    }
    let more = row.info.holder_count() + row.info.waiter_count() - lines.len() as u64;
    if more > 0 {
        lines.push(Line::raw(format!("and {more} more")));
    }
    lines
}
