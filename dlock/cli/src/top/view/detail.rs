//! One lock: its holders and waiters.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::{Block, Borders, Paragraph};

use crate::duration::short;
use crate::hidden::plain;
use crate::top::model::Row;
use crate::who;

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, row: &Row) {
    let block = Block::new()
        .borders(Borders::TOP)
        .title(format!(" {} ", plain(&row.lock.name)));
    let lines = details(row, usize::from(area.height.saturating_sub(1)));
    frame.render_widget(Paragraph::new(lines).block(block), area);
}

/// Holders and waiters, for how long they have been so, in so many lines.
fn details(row: &Row, room: usize) -> Vec<Line<'static>> {
    let holders = row.lock.info.holders.iter().map(|hold| {
        Line::raw(format!(
            "holds  {:5} {:>6}  {}  lease {}  token {}  {}",
            who::mode(hold),
            who::time(hold.held_for),
            who::holder(hold),
            short(hold.remaining),
            who::token(hold),
            plain(&hold.id),
        ))
    });
    let waiters = row.lock.info.waiters.iter().map(|waiter| {
        Line::raw(format!(
            "waits  {:5} {:>6}  {}  {}",
            waiter.mode,
            short(waiter.waiting_for),
            who::name(&waiter.id),
            plain(&waiter.id),
        ))
    });
    let mut lines: Vec<_> = holders.chain(waiters).collect();
    if lines.len() > room || row.lock.info.more_holders + row.lock.info.more_waiters > 0 {
        lines.truncate(room.saturating_sub(1));
    }
    let more = row.lock.info.holder_count() + row.lock.info.waiter_count() - lines.len() as u64;
    if more > 0 {
        lines.push(Line::raw(format!("and {more} more")));
    }
    lines
}
