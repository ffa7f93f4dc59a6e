//! Figures that ought to be there and are not.

use crate::{
    results::Results,
    system::Kind,
    workload::{TITLES, is_wanted},
};

/// The workloads, systems and rows that lack a figure; none, if everything that was asked for has been measured.
pub(crate) fn find(results: &Results, only: &[String], systems: &[Kind]) -> Vec<String> {
    let wanted = |workload: &str| {
        let name = workload.split('-').next().unwrap_or(workload);
        is_wanted(only, name)
    };
    let mut gaps = Vec::new();
    for (workload, _) in TITLES.into_iter().filter(|(workload, _)| wanted(workload)) {
        let rows = results.systems(workload);
        if rows.is_empty() {
            gaps.push(format!("{workload}: nothing at all"));
        }
        for row in rows {
            for (metric, _) in results.metrics(workload) {
                let value = results.get(workload, row, metric);
                if !value.is_some_and(f64::is_finite) {
                    gaps.push(format!("{workload}: {row}: {metric}"));
                }
            }
        }
    }
    // The first workload has all of them.
    let [(first, _), ..] = TITLES;
    if wanted(first) {
        let rows = results.systems(first);
        let missing = systems.iter().filter(|kind| !rows.contains(&kind.name()));
        gaps.extend(missing.map(|kind| format!("{first}: {kind}: nothing at all")));
    }
    gaps
}
