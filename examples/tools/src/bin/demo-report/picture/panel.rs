//! A panel as the dashboard describes it, and its data.

use serde_json::Value;

use super::super::Failure;
use super::super::dashboard::items;
use super::super::prometheus::Series;
use super::unit::Unit;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Row,
    Stat,
    Graph,
    Heatmap,
}

#[derive(Debug)]
pub(super) struct Panel {
    pub(super) title: String,
    pub(super) kind: Kind,
    pub(super) unit: Unit,
    pub(super) stacked: bool,
    pub(super) queries: Vec<Query>,
    /// From which value on which color.
    pub(super) thresholds: Vec<(f64, String)>,
    /// On the dashboard's grid: x, y, width, height.
    pub(super) place: [f64; 4],
}

#[derive(Debug)]
pub(super) struct Query {
    pub(super) expression: String,
    legend: String,
}

/// What a query returned, under the name the legend gives it.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) name: String,
    /// Times in seconds since 1970, and values.
    pub(super) points: Vec<(f64, f64)>,
}

impl Panel {
    pub(super) fn read(panel: &Value) -> Result<Self, Failure> {
        let kind = match panel["type"].as_str() {
            Some("row") => Kind::Row,
            Some("stat") => Kind::Stat,
            Some("timeseries") => Kind::Graph,
            Some("heatmap") => Kind::Heatmap,
            other => return Err(format!("cannot draw a panel of type {other:?}").into()),
        };
        let defaults = &panel["fieldConfig"]["defaults"];
        let unit = [&defaults["unit"], &panel["options"]["yAxis"]["unit"]];
        let unit = unit.iter().find_map(|unit| unit.as_str());
        let steps = items(&defaults["thresholds"]["steps"]).map(|step| {
            let color = step["color"].as_str().unwrap_or_default();
            let value = step["value"].as_f64().unwrap_or(f64::NEG_INFINITY);
            (value, color.to_owned())
        });
        let queries = items(&panel["targets"]).map(|target| Query {
            expression: text(&target["expr"]),
            legend: text(&target["legendFormat"]),
        });
        let place = ["x", "y", "w", "h"].map(|side| panel["gridPos"][side].as_f64());
        Ok(Self {
            title: text(&panel["title"]),
            kind,
            unit: Unit::of(unit.unwrap_or_default()),
            stacked: defaults["custom"]["stacking"]["mode"] == "normal",
            queries: queries.collect(),
            thresholds: steps.collect(),
            place: place.map(Option::unwrap_or_default),
        })
    }

    /// Where it ends on the grid.
    pub(super) fn end(&self) -> f64 {
        self.place[1] + self.place[3]
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

impl Line {
    pub(super) fn new(query: &Query, series: &Series) -> Self {
        let labels = series.labels.iter();
        let name = labels.fold(query.legend.clone(), |name, (label, value)| {
            name.replace(&format!("{{{{{label}}}}}"), value)
        });
        Self {
            name,
            points: series.points(),
        }
    }

    pub(super) fn max(&self) -> f64 {
        self.points
            .iter()
            .map(|(_, value)| *value)
            .fold(0.0, f64::max)
    }
}
