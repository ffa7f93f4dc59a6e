//! One number, and whether it is a good one.

use dlock_tools::Svg;

use super::frame::Frame;
use super::panel::{Line, Panel};

pub(super) fn draw(picture: &mut Svg, panel: &Panel, frame: &Frame, lines: &[Line]) {
    let last = lines.iter().find_map(|line| line.points.last());
    let color = match (last, panel.thresholds.as_slice()) {
        (Some((_, value)), steps) => steps
            .iter()
            .rfind(|(from, _)| from <= value)
            .map_or("grey", |(_, color)| color),
        (None, _) => "grey",
    };
    let color = match color {
        "green" => "#1a7f37",
        "orange" => "#bc4c00",
        "red" => "#cf222e",
        _ => "#57606a",
    };
    picture.add(format_args!(
        "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"{color}\"/>",
        frame.x, frame.y, frame.width, frame.height
    ));
    let middle = frame.width / 2.0;
    picture.text("name", frame.at(middle, 18.0), &panel.title);
    let text = last.map_or("no data".to_owned(), |(_, value)| panel.unit.show(*value));
    picture.text("value", frame.at(middle, frame.height - 28.0), &text);
}
