//! A dashboard as a picture: its own panels, queries and units, with what Prometheus knows.

mod frame;
mod graph;
mod heatmap;
mod mark;
mod panel;
mod stat;
mod unit;

use std::time::{SystemTime, UNIX_EPOCH};

use dlock_tools::Svg;
use serde_json::Value;

use super::Failure;
use super::args::PictureArgs;
use super::dashboard::{filled_in, items};
use super::prometheus::Prometheus;

use self::frame::Frame;
pub(crate) use self::mark::Mark;
use self::panel::{Kind, Line, Panel};

const WIDTH: f64 = 1000.0;
const HEAD: f64 = 34.0;
/// Grafana puts its panels on a grid 24 wide.
const COLUMN: f64 = WIDTH / 24.0;
const ROW: f64 = 24.0;
/// As short as scrapes every two seconds allow, so that failures look as short as they were.
const RATES_OVER: &str = "8s";

const STYLE: &str = "
  text { font: 11px system-ui, 'DejaVu Sans', sans-serif; fill: #59636e }
  .title { font-size: 12px; font-weight: 600; fill: #1f2328 }
  .heading { font-size: 14px; font-weight: 600; fill: #1f2328 }
  .right { text-anchor: end }
  .middle { text-anchor: middle }
  .value { font-size: 26px; font-weight: 600; text-anchor: middle; fill: #ffffff }
  .name { font-size: 11px; text-anchor: middle; fill: #ffffff }
  .panel { fill: none; stroke: #d1d9e0 }
  .grid { stroke: #eaeef2 }
  .cell { fill: #bc4c00 }
  path { fill: none; stroke-width: 1.5; stroke-linecap: round; stroke-linejoin: round }
  .mark { stroke-dasharray: 3 3 }
";

pub(crate) async fn draw(args: &PictureArgs) -> Result<(), Failure> {
    let prometheus = Prometheus::at(&args.of.prometheus)?;
    let dashboard: Value = serde_json::from_slice(&std::fs::read(&args.of.dashboard)?)?;
    let panels = items(&dashboard["panels"])
        .map(Panel::read)
        .collect::<Result<Vec<_>, _>>()?;
    let from = std::time::Duration::from_millis(args.from).as_secs_f64();
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs_f64();
    let times = (from, now);

    let rows = panels.iter().map(Panel::end).fold(0.0, f64::max);
    let mut picture = Svg::new((WIDTH, HEAD + rows * ROW), STYLE, "#ffffff");
    let title = dashboard["title"].as_str().unwrap_or_default();
    picture.text("heading", (6.0, 22.0), title);
    mark::explain(&mut picture, &args.marks, times, (WIDTH - 6.0, 22.0));
    for panel in &panels {
        let mut lines = Vec::new();
        for query in &panel.queries {
            let expression = filled_in(&query.expression, RATES_OVER);
            let series = prometheus.query_range(&expression, times).await?;
            lines.extend(series.iter().map(|series| Line::new(query, series)));
        }
        lines.sort_by(|one, other| one.name.cmp(&other.name));
        let frame = Frame::new(panel, times);
        match panel.kind {
            Kind::Row => picture.text("heading", frame.at(6.0, 17.0), &panel.title),
            Kind::Stat => stat::draw(&mut picture, panel, &frame, &lines),
            Kind::Graph => graph::draw(&mut picture, panel, &frame, &lines, &args.marks),
            Kind::Heatmap => heatmap::draw(&mut picture, panel, &frame, &lines, &args.marks),
        }
    }
    std::fs::write(&args.output, picture.finish())?;
    println!("{} panels in {}", panels.len(), args.output.display());
    Ok(())
}
