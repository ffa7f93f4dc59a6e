//! A screen, cell by cell.

use vt100::{Cell, Color, Screen};

use super::svg::Svg;

const CELL: (f64, f64) = (8.4, 18.0);
const MARGIN: f64 = 12.0;
const FOREGROUND: &str = "#d1d7e0";
const BACKGROUND: &str = "#0d1117";
/// As GitHub shows terminals on a dark page.
const COLORS: [&str; 16] = [
    "#484f58", "#ff7b72", "#3fb950", "#d29922", "#58a6ff", "#bc8cff", "#39c5cf", "#b1bac4",
    "#8b949e", "#ffa198", "#56d364", "#e3b341", "#79c0ff", "#d2a8ff", "#56d4dd", "#ffffff",
];
const STYLE: &str = "
  text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace; white-space: pre }
  .bold { font-weight: 700 }
";

/// How a cell looks.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Look {
    foreground: String,
    background: String,
    bold: bool,
}

impl Look {
    fn of(cell: &Cell) -> Self {
        let mut foreground = name(cell.fgcolor(), FOREGROUND);
        let mut background = name(cell.bgcolor(), BACKGROUND);
        if cell.inverse() {
            std::mem::swap(&mut foreground, &mut background);
        }
        Self {
            foreground,
            background,
            bold: cell.bold(),
        }
    }
}

pub(crate) fn draw(screen: &Screen) -> String {
    let (rows, columns) = screen.size();
    let size = (
        f64::from(columns.get()) * CELL.0 + 2.0 * MARGIN,
        f64::from(rows.get()) * CELL.1 + 2.0 * MARGIN,
    );
    let mut picture = Svg::new(size, STYLE, BACKGROUND);
    for row in 0..rows.get() {
        let mut run: Option<(u16, Look, String)> = None;
        for column in 0..columns.get() {
            let Some(cell) = screen.cell(row, column) else {
                continue;
            };
            let look = Look::of(cell);
            let text = Some(cell.contents()).filter(|text| !text.is_empty());
            let text = text.unwrap_or(" ");
            match &mut run {
                Some((_, same, cells)) if *same == look => cells.push_str(text),
                other => {
                    if let Some(run) = other.replace((column, look, text.to_owned())) {
                        draw_run(&mut picture, row, &run);
                    }
                }
            }
        }
        if let Some(run) = run {
            draw_run(&mut picture, row, &run);
        }
    }
    picture.finish()
}

/// Neighbours that look the same, as one text: the width is given, so that columns meet in any font.
fn draw_run(picture: &mut Svg, row: u16, (column, look, text): &(u16, Look, String)) {
    let (x, y) = (
        MARGIN + f64::from(*column) * CELL.0,
        MARGIN + f64::from(row) * CELL.1,
    );
    if look.background != BACKGROUND {
        let width = width(text);
        // A little higher than a row: no seams.
        let height = CELL.1 + 0.3;
        picture.add(format_args!(
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height}\" fill=\"{}\"/>",
            look.background
        ));
    }
    let shown = text.trim_end();
    if shown.is_empty() {
        return;
    }
    picture.add(format_args!("<g fill=\"{}\">", look.foreground));
    let class = if look.bold { "bold" } else { "plain" };
    picture.text_in(class, (x, y + 13.5), width(shown), shown);
    picture.add(format_args!("</g>"));
}

/// As many cells as characters; what is drawn here has no wide ones.
fn width(text: &str) -> f64 {
    text.chars().map(|_| CELL.0).sum()
}

fn name(color: Color, default: &str) -> String {
    match color {
        Color::Default => default.to_owned(),
        Color::Rgb(r, g, b) => format!("#{r:02x}{g:02x}{b:02x}"),
        Color::Idx(index @ 0..16) => COLORS[usize::from(index)].to_owned(),
        // Six steps of each color.
        Color::Idx(index @ 16..232) => {
            let step = |nth: u8| match nth % 6 {
                0 => 0,
                nth => 55 + nth * 40,
            };
            let index = index - 16;
            let (r, g, b) = (step(index / 36), step(index / 6), step(index));
            format!("#{r:02x}{g:02x}{b:02x}")
        }
        Color::Idx(index) => {
            let grey = 8 + (index - 232) * 10;
            format!("#{grey:02x}{grey:02x}{grey:02x}")
        }
    }
}
