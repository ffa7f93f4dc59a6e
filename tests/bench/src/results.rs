//! What was measured: medians of repeats, as a table and as JSON.

use std::{borrow::Borrow, fmt::Write as _, path::Path};

use serde_json::json;

use crate::measure::{Samples, count};

/// One number, measured several times.
#[derive(Debug)]
struct Entry {
    workload: &'static str,
    system: String,
    metric: &'static str,
    unit: &'static str,
    values: Samples,
}

/// All numbers of a run.
#[derive(Debug, Default)]
pub(crate) struct Results {
    entries: Vec<Entry>,
}

impl Results {
    /// Adds one measurement.
    pub(crate) fn add(
        &mut self,
        workload: &'static str,
        system: &str,
        metric: &'static str,
        unit: &'static str,
        value: f64,
    ) {
        if let Some(index) = self.index(workload, system, metric) {
            self.entries[index].values.add(value);
            return;
        }
        self.entries.push(Entry {
            workload,
            system: system.to_owned(),
            metric,
            unit,
            values: Samples::from_iter([value]),
        });
    }

    /// The place for the measurements of one system in a workload.
    pub(crate) fn row<'a>(&'a mut self, workload: &'static str, system: &'a str) -> Row<'a> {
        Row {
            results: self,
            workload,
            system,
        }
    }

    /// The median of the repeats.
    pub(crate) fn get(&self, workload: &str, system: &str, metric: &str) -> Option<f64> {
        let index = self.index(workload, system, metric)?;
        Some(self.entries[index].values.median())
    }

    fn index(&self, workload: &str, system: &str, metric: &str) -> Option<usize> {
        self.entries.iter().position(|entry| {
            entry.workload == workload && entry.system == system && entry.metric == metric
        })
    }

    fn of(&self, workload: &str) -> impl Iterator<Item = &Entry> {
        let entries = self.entries.iter();
        entries.filter(move |entry| entry.workload == workload)
    }

    /// The systems measured with a workload, in order.
    pub(crate) fn systems(&self, workload: &str) -> Vec<&str> {
        distinct(self.of(workload).map(|entry| entry.system.as_str()))
    }

    /// What was measured with a workload, in order, and in which unit.
    pub(crate) fn metrics(&self, workload: &str) -> Vec<(&'static str, &'static str)> {
        distinct(self.of(workload).map(|entry| (entry.metric, entry.unit)))
    }

    /// One Markdown table for each workload.
    pub(crate) fn to_markdown(&self, titles: &[(&'static str, &'static str)]) -> String {
        let mut text = String::new();
        for (workload, title) in titles {
            let metrics = self.metrics(workload);
            if metrics.is_empty() {
                continue;
            }
            let headings = metrics.iter();
            let headings = headings.map(|(metric, unit)| format!("{metric} [{unit}]"));
            let headings: Vec<String> = headings.collect();
            let rows = self.systems(workload).into_iter().map(|system| {
                let cells = metrics.iter().map(|(metric, _)| {
                    let cell = self.get(workload, system, metric);
                    cell.map_or_else(String::new, readable)
                });
                (system, cells.collect())
            });
            let title = format!("{workload}: {title}");
            text += &markdown_table(&title, " system ", &headings, rows);
        }
        text
    }

    /// Writes an array of `{workload, system, metric, value, unit}`, with the extremes of the repeats.
    pub(crate) fn write_json(&self, path: &Path) -> std::io::Result<()> {
        let entries: Vec<_> = self
            .entries
            .iter()
            .map(|entry| {
                json!({
                    "workload": entry.workload,
                    "system": entry.system,
                    "metric": entry.metric,
                    "value": entry.values.median(),
                    "unit": entry.unit,
                    "min": entry.values.percentile(0.0),
                    "max": entry.values.max(),
                    "repeats": entry.values.len(),
                })
            })
            .collect();
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::write(path, serde_json::to_string_pretty(&entries)?)
    }
}

/// The measurements of one system in a workload.
#[derive(Debug)]
pub(crate) struct Row<'a> {
    results: &'a mut Results,
    workload: &'static str,
    system: &'a str,
}

impl Row<'_> {
    /// Adds one measurement.
    pub(crate) fn add(&mut self, metric: &'static str, unit: &'static str, value: f64) {
        let (workload, system) = (self.workload, self.system);
        self.results.add(workload, system, metric, unit, value);
    }

    /// Adds the median, the 99th percentile and the maximum of waits, which are in us.
    pub(crate) fn add_waits(&mut self, [p50, p99, max]: [&'static str; 3], waits: &Samples) {
        self.add(p50, "ms", waits.median() / 1e3);
        self.add(p99, "ms", waits.percentile(0.99) / 1e3);
        self.add(max, "ms", waits.max() / 1e3);
    }

    /// Adds the smallest and the largest of several counts.
    pub(crate) fn add_extremes(&mut self, [least, most]: [&'static str; 2], counts: &[usize]) {
        let counts: Samples = counts.iter().map(|n| count(*n)).collect();
        self.add(least, "1", counts.percentile(0.0));
        self.add(most, "1", counts.max());
    }
}

/// A Markdown table of numbers. The first column has the names of the rows, under the heading `of_names`.
pub(crate) fn markdown_table<'a>(
    title: &str,
    of_names: &str,
    headings: &[impl Borrow<str>],
    rows: impl IntoIterator<Item = (&'a str, Vec<String>)>,
) -> String {
    let mut text = format!(
        "\n### {title}\n\n|{of_names}| {} |\n|---|{}\n",
        headings.join(" | "),
        "---:|".repeat(headings.len())
    );
    for (name, cells) in rows {
        let _ = writeln!(text, "| {name} | {} |", cells.join(" | "));
    }
    text
}

/// Each value once, in order.
fn distinct<T: PartialEq>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut distinct = Vec::new();
    for value in values {
        if !distinct.contains(&value) {
            distinct.push(value);
        }
    }
    distinct
}

/// Three digits are as many as a measurement deserves.
pub(crate) fn readable(value: f64) -> String {
    match value.abs() {
        v if v >= 100.0 => format!("{value:.0}"),
        v if v >= 10.0 => format!("{value:.1}"),
        v if v >= 0.1 || v == 0.0 => format!("{value:.2}"),
        _ => format!("{value:.4}"),
    }
}
