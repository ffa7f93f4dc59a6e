//! Where a panel is, and where times are in it.

use dlock_tools::Svg;

use super::panel::Panel;
use super::unit::steps;
use super::{COLUMN, HEAD, ROW};

/// Room around what is drawn: for the numbers at the left, the title above, times and legend below.
const LEFT: f64 = 52.0;
const RIGHT: f64 = 12.0;
const ABOVE: f64 = 28.0;
const BELOW: f64 = 50.0;
const GAP: f64 = 3.0;

#[derive(Debug)]
pub(super) struct Frame {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) width: f64,
    pub(super) height: f64,
    times: (f64, f64),
}

impl Frame {
    pub(super) fn new(panel: &Panel, times: (f64, f64)) -> Self {
        let [x, y, width, height] = panel.place;
        Self {
            x: x * COLUMN + GAP,
            y: HEAD + y * ROW + GAP,
            width: width * COLUMN - 2.0 * GAP,
            height: height * ROW - 2.0 * GAP,
            times,
        }
    }

    /// A position in the panel.
    pub(super) fn at(&self, x: f64, y: f64) -> (f64, f64) {
        (self.x + x, self.y + y)
    }

    pub(super) fn left(&self) -> f64 {
        self.x + LEFT
    }

    pub(super) fn right(&self) -> f64 {
        self.x + self.width - RIGHT
    }

    pub(super) fn top(&self) -> f64 {
        self.y + ABOVE
    }

    pub(super) fn bottom(&self) -> f64 {
        self.y + self.height - BELOW
    }

    pub(super) fn x_of(&self, time: f64) -> f64 {
        let (from, to) = self.times;
        self.left() + (time - from) / (to - from) * (self.right() - self.left())
    }

    /// A number at the left, at this height.
    pub(super) fn label(&self, picture: &mut Svg, y: f64, text: &str) {
        picture.text("right", (self.left() - 5.0, y + 4.0), text);
    }

    /// Border, title, and times.
    pub(super) fn draw(&self, picture: &mut Svg, title: &str) {
        picture.rect("panel", (self.x, self.y), (self.width, self.height));
        picture.text("title", self.at(8.0, 17.0), title);
        let (from, to) = self.times;
        let step = steps(to - from, 5.0);
        let mut time = from;
        while time <= to {
            let x = self.x_of(time);
            grid_line(picture, (x, self.top()), (x, self.bottom()));
            let text = format!("{:.0} s", time - from);
            picture.text("middle", (x, self.bottom() + 14.0), &text);
            time += step;
        }
    }
}

pub(super) fn grid_line(picture: &mut Svg, (x, y): (f64, f64), (to_x, to_y): (f64, f64)) {
    picture.add(format_args!(
        "<path class=\"grid\" d=\"M{x:.1} {y:.1}L{to_x:.1} {to_y:.1}\"/>"
    ));
}
