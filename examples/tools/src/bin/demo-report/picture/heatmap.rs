//! How values are distributed, over time.

use dlock_tools::Svg;

use super::super::prometheus::STEP;
use super::frame::Frame;
use super::mark::{self, Mark};
use super::panel::{Line, Panel};

/// A bucket's upper bound, and how often values fell between the bound before it and this one.
type Bucket = (f64, Vec<(f64, f64)>);

pub(super) fn draw(
    picture: &mut Svg,
    panel: &Panel,
    frame: &Frame,
    lines: &[Line],
    marks: &[Mark],
) {
    frame.draw(picture, &panel.title);
    let buckets = buckets(lines);
    let most = buckets
        .iter()
        .flat_map(|(_, points)| points)
        .map(|(_, value)| *value)
        .fold(f64::MIN_POSITIVE, f64::max);
    let rows: f64 = buckets.iter().map(|_| 1.0).sum();
    let height = (frame.bottom() - frame.top()) / f64::max(rows, 1.0);
    let mut y = frame.bottom();
    let mut labelled = f64::INFINITY;
    for (bound, points) in &buckets {
        for (time, value) in points.iter().filter(|(_, value)| *value > 0.0) {
            let x = frame.x_of(*time);
            let width = (frame.x_of(time + STEP).min(frame.right()) - x).max(0.0);
            // The eye tells small numbers apart better by their roots.
            let opacity = (value / most).sqrt();
            picture.add(format_args!(
                "<rect class=\"cell\" opacity=\"{opacity:.2}\" x=\"{x:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"{height:.1}\"/>",
                y - height
            ));
        }
        y -= height;
        if labelled - y > 12.0 {
            frame.label(picture, y, &panel.unit.show(*bound));
            labelled = y;
        }
    }
    mark::draw(picture, marks, frame);
    let text = format!("darkest: {most:.0} a second");
    picture.text("series", frame.at(8.0, frame.height - 14.0), &text);
}

/// From the first to the last one that is not always empty.
fn buckets(lines: &[Line]) -> Vec<Bucket> {
    let mut bounds: Vec<(f64, &Line)> = lines
        .iter()
        .filter_map(|line| Some((line.name.parse().ok()?, line)))
        .filter(|(bound, _): &(f64, _)| bound.is_finite())
        .collect();
    bounds.sort_by(|one, other| one.0.total_cmp(&other.0));
    // Each counts what is below its bound, so the one before is taken off.
    let mut before: &[(f64, f64)] = &[];
    let mut buckets = Vec::new();
    for (bound, line) in bounds {
        let points = line.points.iter().map(|(time, value)| {
            let same = before.iter().find(|(at, _)| (at - time).abs() < 0.1);
            (*time, value - same.map_or(0.0, |(_, value)| *value))
        });
        buckets.push((bound, points.collect()));
        before = &line.points;
    }
    let used = |(_, points): &Bucket| points.iter().any(|(_, value)| *value > 0.0);
    let first = buckets.iter().position(used).unwrap_or(0);
    let last = buckets.iter().rposition(used).map_or(0, |last| last + 1);
    buckets.truncate(last);
    buckets.drain(..first.min(last));
    buckets
}
