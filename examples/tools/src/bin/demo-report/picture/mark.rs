//! What happened when.

use std::str::FromStr;

use dlock_tools::Svg;

use super::super::Failure;
use super::frame::Frame;

const COLORS: [&str; 3] = ["#bc4c00", "#cf222e", "#8250df"];

/// A moment worth seeing in all graphs.
#[derive(Debug, Clone)]
pub(crate) struct Mark {
    /// Seconds since 1970.
    at: f64,
    what: String,
}

impl FromStr for Mark {
    type Err = Failure;

    fn from_str(text: &str) -> Result<Self, Failure> {
        let (millis, what) = text.split_once('=').ok_or("TIME=WHAT is expected")?;
        Ok(Self {
            at: std::time::Duration::from_millis(millis.parse()?).as_secs_f64(),
            what: what.to_owned(),
        })
    }
}

/// Tells what the lines mean; ends at this position.
pub(super) fn explain(
    picture: &mut Svg,
    marks: &[Mark],
    (from, to): (f64, f64),
    (x, y): (f64, f64),
) {
    let mut texts = vec![("#59636e", format!("{:.0} seconds", to - from))];
    for (mark, color) in marks.iter().zip(COLORS.into_iter().cycle()) {
        texts.push((color, format!("┆ {:.0} s: {}", mark.at - from, mark.what)));
    }
    picture.add(format_args!("<text class=\"right\" x=\"{x}\" y=\"{y}\">"));
    for (color, text) in texts {
        picture.add(format_args!(
            "<tspan dx=\"12\" style=\"fill: {color}\">{text}</tspan>"
        ));
    }
    picture.add(format_args!("</text>"));
}

pub(super) fn draw(picture: &mut Svg, marks: &[Mark], frame: &Frame) {
    for (mark, color) in marks.iter().zip(COLORS.into_iter().cycle()) {
        let (x, top, bottom) = (frame.x_of(mark.at), frame.top(), frame.bottom());
        picture.add(format_args!(
            "<path class=\"mark\" stroke=\"{color}\" d=\"M{x:.1} {top:.1}V{bottom:.1}\"/>"
        ));
    }
}
