//! The picture.

use dlock_tools::Svg;

use super::panel::{Bar, Better, Panel};

const PANEL: (f64, f64) = (430.0, 240.0);
const MARGIN: f64 = 16.0;
const HEAD: f64 = 46.0;
const BAR: f64 = 22.0;
const NAMES: f64 = 88.0;
const VALUES: f64 = 96.0;

const STYLE: &str = "
  text { font: 12px system-ui, sans-serif; fill: #1f2328 }
  .title { font-size: 14px; font-weight: 600 }
  .note { fill: #59636e }
  .other { fill: #afb8c1 }
  .own { fill: #0969da }
";

/// All panels, two in a row.
pub(crate) fn draw(panels: &[(&Panel, Vec<Bar<'_>>)]) -> String {
    let rows = panels.chunks(2);
    #[expect(clippy::cast_precision_loss, reason = "a handful")]
    let height = rows.len() as f64 * PANEL.1 + MARGIN;
    let width = 2.0 * PANEL.0 + MARGIN;
    let mut picture = Svg::new((width, height), STYLE, "#ffffff");
    let mut y = MARGIN;
    for row in rows {
        let mut x = MARGIN;
        for (panel, bars) in row {
            draw_panel(&mut picture, panel, bars, (x, y));
            x += PANEL.0;
        }
        y += PANEL.1;
    }
    picture.finish()
}

fn draw_panel(picture: &mut Svg, panel: &Panel, bars: &[Bar<'_>], (x, y): (f64, f64)) {
    let better = match panel.better {
        Better::Less => "shorter is better",
        Better::More => "longer is better",
    };
    picture.text("title", (x, y + 14.0), panel.title);
    let note = format!("{better} ({})", panel.source());
    picture.text("note", (x, y + 31.0), &note);
    let longest = bars
        .iter()
        .map(|bar| bar.value)
        .fold(f64::MIN_POSITIVE, f64::max);
    let room = PANEL.0 - NAMES - VALUES;
    let mut y = y + HEAD;
    for bar in bars {
        // A bar too short to be seen would look like a missing one.
        let width = (bar.value / longest * room).max(1.5);
        let class = if bar.system == "dlock" {
            "own"
        } else {
            "other"
        };
        let left = x + NAMES;
        picture.text("name", (x, y + 14.0), bar.system);
        let (top, height) = (y + 3.0, BAR - 6.0);
        picture.rect(class, (left, top), (width, height));
        let value = format!("{} {}", readable(bar.value), bar.unit);
        picture.text("value", (left + width + 6.0, y + 14.0), &value);
        y += BAR;
    }
}

/// Three digits, and commas between thousands.
fn readable(value: f64) -> String {
    let text = match value.abs() {
        v if v >= 100.0 => format!("{value:.0}"),
        v if v >= 10.0 => format!("{value:.1}"),
        _ => return format!("{value:.2}"),
    };
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    let mut grouped = String::new();
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index) % 3 == 0 {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped + rest
}
