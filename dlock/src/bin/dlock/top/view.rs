//! The picture on the screen.

use ratatui::Frame;
use ratatui::crossterm::event::KeyCode;
use ratatui::layout::{Alignment, Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders, Cell, Paragraph, Row, Table, TableState};

use super::model::{self, Picture};
use crate::duration::short;

/// What comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    Waiting,
    Changes,
    Name,
}

/// What is on the screen.
pub(super) struct View {
    place: String,
    picture: Picture,
    order: Order,
    paused: bool,
    /// The lock whose details are shown; stays with it wherever it moves.
    selected: Option<String>,
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
            _ => {}
        }
        true
    }

    fn arrange(&mut self) {
        let order = self.order;
        self.picture.rows.sort_by(|a, b| {
            let by_waiting = b.info.waiters.len().cmp(&a.info.waiters.len());
            let by_rate = b.rate.total_cmp(&a.rate);
            let by_name = a.name.cmp(&b.name);
            match order {
                Order::Waiting => by_waiting.then(by_name),
                Order::Changes => by_rate.then(by_waiting).then(by_name),
                Order::Name => by_name,
            }
        });
        let rows = &self.picture.rows;
        let position = rows
            .iter()
            .position(|row| Some(&row.name) == self.selected.as_ref());
        self.table
            .select(position.or_else(|| (!rows.is_empty()).then_some(0)));
    }

    fn step(&mut self, by: isize) {
        let last = self.picture.rows.len().saturating_sub(1);
        let at = self.table.selected().unwrap_or(0);
        let at = at.saturating_add_signed(by).min(last);
        self.table.select(Some(at));
        self.selected = self.picture.rows.get(at).map(|row| row.name.clone());
    }

    pub(super) fn draw(&mut self, frame: &mut Frame<'_>) {
        let details = if frame.area().height >= 20 { 8 } else { 0 };
        let [title, totals, table, detail, keys] = Layout::vertical([
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
        self.draw_table(frame, table);
        self.draw_detail(frame, detail);
        let paused = if self.paused {
            "paused, p goes on"
        } else {
            "p pause"
        };
        let order = match self.order {
            Order::Waiting => "waiting",
            Order::Changes => "changes",
            Order::Name => "name",
        };
        let help = format!("q quit  up/down select  s sort ({order})  {paused}");
        frame.render_widget(Paragraph::new(help).style(Color::DarkGray), keys);
    }

    fn totals(&self) -> Line<'static> {
        if let Some(trouble) = &self.picture.trouble {
            return Line::styled(trouble.to_string(), Color::Red);
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

    fn draw_table(&mut self, frame: &mut Frame<'_>, area: Rect) {
        let number = |text: String| Cell::from(Line::from(text).alignment(Alignment::Right));
        let heading = Row::new([
            Cell::from("LOCK"),
            Cell::from("MODE"),
            number("HOLD".into()),
            number("WAIT".into()),
            number("CHG/s".into()),
            number("LEASE".into()),
            Cell::from("HELD BY"),
        ]);
        // The figures and the gaps take 30; three fifths of the rest are for the name.
        let width = area.width.saturating_sub(30) * 3 / 5;
        let rows = self.picture.rows.iter().map(|row| {
            let lease = row.info.holders.iter().map(|hold| hold.remaining).max();
            Row::new([
                Cell::from(cut(&row.name, width.into())),
                Cell::from(row.mode()),
                number(row.info.holders.len().to_string()),
                number(row.info.waiters.len().to_string()),
                number(rate(row.rate)),
                number(lease.map_or_else(String::new, short)),
                Cell::from(row.held_by()),
            ])
            .style(attention(!row.info.waiters.is_empty()))
        });
        let widths = [
            Constraint::Length(width),
            Constraint::Length(5),
            Constraint::Length(4),
            Constraint::Length(4),
            Constraint::Length(5),
            Constraint::Length(6),
            Constraint::Fill(1),
        ];
        let table = Table::new(rows, widths)
            .header(heading.style(Modifier::REVERSED))
            .row_highlight_style(Modifier::REVERSED);
        frame.render_stateful_widget(table, area, &mut self.table);
    }

    fn draw_detail(&self, frame: &mut Frame<'_>, area: Rect) {
        let selected = self.table.selected();
        let Some(row) = selected.and_then(|at| self.picture.rows.get(at)) else {
            return;
        };
        let block = Block::new()
            .borders(Borders::TOP)
            .title(format!(" {} ", row.name));
        let lines = details(row, usize::from(area.height.saturating_sub(1)));
        frame.render_widget(Paragraph::new(lines).block(block), area);
    }
}

/// Holders and waiters, in so many lines.
fn details(row: &model::Row, room: usize) -> Vec<Line<'static>> {
    let holders = row.info.holders.iter().map(|hold| {
        Line::raw(format!(
            "holds  {:5} {:>6}  {}  token {}{}",
            hold.mode,
            short(hold.remaining),
            hold.id,
            hold.token,
            hold.owner
                .as_ref()
                .map_or_else(String::new, |owner| format!("  owner {owner}")),
        ))
    });
    let waiters = row
        .info
        .waiters
        .iter()
        .map(|waiter| Line::raw(format!("waits  {:5}         {}", waiter.mode, waiter.id)));
    let mut lines: Vec<_> = holders.chain(waiters).collect();
    if lines.len() > room {
        lines.truncate(room.saturating_sub(1));
        let total = row.info.holders.len() + row.info.waiters.len();
        lines.push(Line::raw(format!("and {} more", total - lines.len())));
    }
    lines
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

fn attention(needed: bool) -> Style {
    if needed {
        Style::new().fg(Color::Yellow).add_modifier(Modifier::BOLD)
    } else {
        Style::new()
    }
}

#[cfg(test)]
mod tests {
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;
    use ratatui::crossterm::event::KeyCode;

    use super::super::model::{Load, Picture, Row};
    use super::View;

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
        let text: Vec<&str> = buffer.content().iter().map(|cell| cell.symbol()).collect();
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
        assert!(
            shown[1].starts_with("3 held  0 contended  0 waiting  |  154 scripts/s, 67 us each")
        );
        assert!(shown[2].starts_with("LOCK ") && shown[2].ends_with("HELD BY"));
        assert!(
            shown[3].starts_with("a-name-much-longer-than-its-c…  write")
                || shown[3].contains("… write")
        );
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
}
