//! The picture on the screen.

mod detail;
mod table;
#[cfg(test)]
mod tests;

use ratatui::Frame;
use ratatui::crossterm::event::KeyCode;
use ratatui::layout::{Constraint, Layout};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, TableState};

use super::model::Picture;
use crate::hidden::plain;
use crate::list::Found;

/// What comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    Waiting,
    Changes,
    Name,
}

/// The contents of the screen.
pub(super) struct View {
    place: String,
    picture: Picture,
    order: Order,
    paused: bool,
    /// The lock whose details are shown; stays with it wherever it moves.
    selected: Option<Found>,
    table: TableState,
}

impl View {
    pub(super) fn new(place: String) -> Self {
        Self {
            place,
            picture: Picture::default(),
            order: Order::Waiting,
            paused: false,
            selected: None,
            table: TableState::default(),
        }
    }

    pub(super) fn take(&mut self, picture: Picture) {
        if self.paused {
            return;
        }
        self.picture = picture;
        self.arrange();
    }

    /// Reacts to a key; `false` ends it all.
    pub(super) fn press(&mut self, key: KeyCode) -> bool {
        match key {
            KeyCode::Char('q') | KeyCode::Esc => return false,
            KeyCode::Char('p' | ' ') => self.paused = !self.paused,
            KeyCode::Char('s') => {
                self.order = match self.order {
                    Order::Waiting => Order::Changes,
                    Order::Changes => Order::Name,
                    Order::Name => Order::Waiting,
                };
                self.arrange();
            }
            KeyCode::Down | KeyCode::Char('j') => self.step(1),
            KeyCode::Up | KeyCode::Char('k') => self.step(-1),
            KeyCode::PageDown => self.step(10),
            KeyCode::PageUp => self.step(-10),
            KeyCode::Home => self.step(isize::MIN),
            KeyCode::End => self.step(isize::MAX),
            _ => {}
        }
        true
    }

    fn arrange(&mut self) {
        let order = self.order;
        self.picture.rows.sort_by(|a, b| {
            let by_waiting = b.lock.info.waiter_count().cmp(&a.lock.info.waiter_count());
            let by_rate = b.rate.total_cmp(&a.rate);
            let by_name = a.lock.name.cmp(&b.lock.name);
            match order {
                Order::Waiting => by_waiting.then(by_name),
                Order::Changes => by_rate.then(by_waiting).then(by_name),
                Order::Name => by_name,
            }
        });
        let rows = &self.picture.rows;
        let position = rows.iter().position(|row| {
            self.selected
                .as_ref()
                .is_some_and(|lock| lock.is_same(&row.lock))
        });
        self.table
            .select(position.or_else(|| (!rows.is_empty()).then_some(0)));
    }

    fn step(&mut self, by: isize) {
        let last = self.picture.rows.len().saturating_sub(1);
        let at = self.table.selected().unwrap_or(0);
        let at = at.saturating_add_signed(by).min(last);
        self.table.select(Some(at));
        self.selected = self.picture.rows.get(at).map(|row| row.lock.clone());
    }

    pub(super) fn draw(&mut self, frame: &mut Frame<'_>) {
        let details = if frame.area().height >= 20 { 8 } else { 0 };
        let [title, totals, rows, detail, keys] = Layout::vertical([
            Constraint::Length(1),
            Constraint::Length(1),
            Constraint::Min(3),
            Constraint::Length(details),
            Constraint::Length(1),
        ])
        .areas(frame.area());
        let name = Span::styled("dlock top", Modifier::BOLD);
        frame.render_widget(
            Line::from(vec![name, Span::raw(format!("  {}", self.place))]),
            title,
        );
        frame.render_widget(self.totals(), totals);
        table::draw(frame, rows, &self.picture.rows, &mut self.table);
        let selected = self.table.selected();
        if let Some(row) = selected.and_then(|at| self.picture.rows.get(at)) {
            detail::draw(frame, detail, row);
        }
        let pause = if self.paused { "go on" } else { "pause" };
        let order = match self.order {
            Order::Waiting => "waiting",
            Order::Changes => "changes",
            Order::Name => "name",
        };
        // Eighty columns have room for all of it, whatever the order.
        let help = format!(
            "q Esc quit  ↑↓ j k PgUp PgDn Home End select  s sort ({order})  p space {pause}"
        );
        frame.render_widget(Paragraph::new(help).style(Color::DarkGray), keys);
    }

    fn totals(&self) -> Line<'static> {
        if let Some(trouble) = &self.picture.trouble {
            return Line::styled(plain(&trouble.to_string()).into_owned(), Color::Red);
        }
        if self.picture.scans == 0 {
            return Line::raw("looking ...");
        }
        let (held, contended, waiting) = self.picture.totals();
        let mut spans = vec![
            Span::raw(format!("{held} held  ")),
            Span::styled(
                format!("{contended} contended  {waiting} waiting"),
                attention(waiting > 0),
            ),
        ];
        if let Some(load) = self.picture.load.filter(|load| load.servers > 0) {
            spans.push(Span::raw(format!(
                "  |  {:.0} scripts/s, {:.0} us each, on {} server{}",
                load.rate,
                load.micros,
                load.servers,
                if load.servers == 1 { "" } else { "s" },
            )));
        }
        Line::from(spans)
    }
}

fn attention(needed: bool) -> Style {
    if needed {
        Style::new().fg(Color::Yellow).add_modifier(Modifier::BOLD)
    } else {
        Style::new()
    }
}
