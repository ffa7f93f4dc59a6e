//! Lines over time.

use std::fmt::Write;

use dlock_tools::Svg;

use super::super::prometheus::STEP;
use super::frame::{Frame, grid_line};
use super::mark::{self, Mark};
use super::panel::{Line, Panel};
use super::unit::steps;

const COLORS: [&str; 10] = [
    "#0969da", "#bf8700", "#1a7f37", "#cf222e", "#8250df", "#1b7c83", "#bf3989", "#57606a",
    "#54aeff", "#bc4c00",
];
/// Where points are further apart, there was no value.
const APART: f64 = 1.5 * STEP;
/// About what a letter of the legend takes.
const LETTER: f64 = 6.3;

/// A point of a line: a time, and between which values it is filled.
type Span = (f64, f64, f64);

pub(super) fn draw(
    picture: &mut Svg,
    panel: &Panel,
    frame: &Frame,
    lines: &[Line],
    marks: &[Mark],
) {
    frame.draw(picture, &panel.title);
    let spans = spans(lines, panel.stacked);
    let max = spans
        .iter()
        .flatten()
        .map(|span| span.2)
        .fold(0.0, f64::max);
    let max = if max > 0.0 { max * 1.02 } else { 1.0 };
    let y_of = |value: f64| frame.bottom() - value / max * (frame.bottom() - frame.top());
    let step = steps(max, 4.0);
    let mut value = 0.0;
    while value <= max {
        let y = y_of(value);
        grid_line(picture, (frame.left(), y), (frame.right(), y));
        frame.label(picture, y, &panel.unit.show(value));
        value += step;
    }
    mark::draw(picture, marks, frame);
    let colored: Vec<_> = spans.iter().zip(COLORS.into_iter().cycle()).collect();
    // The first one last: on top of those that add nothing to it.
    for (spans, color) in colored.into_iter().rev() {
        for part in spans.chunk_by(|one, next| next.0 - one.0 < APART) {
            let (mut line, mut floor) = (String::from("M"), String::new());
            for (time, low, high) in part {
                let x = frame.x_of(*time);
                let _ = write!(line, "{x:.1} {:.1} ", y_of(*high));
                floor.insert_str(0, &format!("{x:.1} {:.1} ", y_of(*low)));
            }
            if panel.stacked {
                picture.add(format_args!(
                    "<path style=\"fill: {color}; fill-opacity: 0.25\" d=\"{line}{floor}Z\"/>"
                ));
            }
            // A lone point is seen by its round ends.
            picture.add(format_args!("<path stroke=\"{color}\" d=\"{line}h0.01\"/>"));
        }
    }
    legend(picture, frame, lines);
}

/// The lines, one on top of the other if they are stacked.
fn spans(lines: &[Line], stacked: bool) -> Vec<Vec<Span>> {
    let mut heights: Vec<(f64, f64)> = Vec::new();
    let mut spans = Vec::new();
    for line in lines {
        let mut own = Vec::new();
        for (time, value) in &line.points {
            // All answers have the same times.
            let below = heights.iter_mut().find(|(at, _)| (at - time).abs() < 0.1);
            let low = below.as_ref().map_or(0.0, |(_, height)| *height);
            own.push((*time, low, low + value));
            match below {
                Some((_, height)) => *height += value,
                None if stacked => heights.push((*time, *value)),
                None => {}
            }
        }
        spans.push(own);
    }
    spans
}

/// Two rows of names, the largest first; what does not fit is counted.
fn legend(picture: &mut Svg, frame: &Frame, lines: &[Line]) {
    let mut names: Vec<_> = lines.iter().zip(COLORS.into_iter().cycle()).collect();
    names.sort_by(|(one, _), (other, _)| other.max().total_cmp(&one.max()));
    let width = |text: &str| text.chars().map(|_| LETTER).sum::<f64>() + 24.0;
    let (mut x, mut y) = (8.0, frame.height - 21.0);
    let mut shown = 0;
    for (line, color) in &names {
        // Room for "+ 10" at the end of the last row.
        let last_row = y > frame.height - 20.0;
        let room = frame.width - if last_row { 40.0 } else { 8.0 };
        if x + width(&line.name) > room && x > 8.0 {
            if last_row {
                break;
            }
            (x, y) = (8.0, y + 14.0);
        }
        let at = frame.at(x, y);
        picture.add(format_args!(
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"10\" height=\"3\" fill=\"{color}\"/>",
            at.0,
            at.1 - 5.0
        ));
        picture.text("series", (at.0 + 14.0, at.1), &line.name);
        x += width(&line.name);
        shown += 1;
    }
    if shown < names.len() {
        let more = format!("+ {}", names.len() - shown);
        picture.text("right", frame.at(frame.width - 8.0, y), &more);
    }
}
