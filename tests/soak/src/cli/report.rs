//! What people are shown: the progress, a table, and one line of JSON.

use std::{fmt::Write as _, path::Path};

use super::Options;
use crate::{driver::Outcome, figures::Figures, plan::Plan};

/// What the sums are called.
const SUMS: [(&str, &str); 11] = [
    ("rounds", "rounds"),
    ("seconds", "seconds"),
    ("operations", "operations"),
    ("grants", "grants"),
    ("updates", "updates"),
    ("updates lost without the fence", "lost_without_fence"),
    ("updates lost with the fence", "lost_with_fence"),
    ("refused by the fence", "refused_by_fence"),
    ("longest gap after a failover, ms", "longest_gap_ms"),
    ("grants and releases whose order was found", "ordered"),
    ("histories whose order was not found in time", "undecided"),
];

/// A round begins.
pub(crate) fn begins(plan: &Plan) {
    let Plan {
        draw,
        theme,
        lossy,
        persistent,
        locks,
        processes,
        ..
    } = plan;
    let tasks: usize = processes.iter().map(|process| process.tasks.len()).sum();
    let may = if *lossy { "may" } else { "must not" };
    let lingering = processes.iter().filter(|process| process.linger > 0);
    let lingering = lingering.count();
    let keep = if *persistent { "keep" } else { "do not keep" };
    eprintln!(
        "round {}: {theme:?}; {} processes ({lingering} of which linger), {tasks} tasks, {locks} locks; servers {keep} their data, faults {may} lose any",
        draw.round,
        processes.len()
    );
}

/// A round has ended.
pub(crate) fn ended(outcome: &Outcome, kept: Option<&Path>) {
    let granted = outcome
        .story
        .calls
        .iter()
        .filter(|call| call.got().is_some());
    eprintln!(
        "  {} calls, {} grants, {} faults, {} violations, {:.0} s",
        outcome.story.calls.len(),
        granted.count(),
        outcome.known.faults.values().sum::<u64>(),
        outcome.verdict.violations.len(),
        outcome.took.as_secs_f64()
    );
    for trouble in outcome.known.trouble.iter().take(5) {
        eprintln!("  trouble: {trouble}");
    }
    for violation in outcome.verdict.violations.iter().take(5) {
        eprintln!("  VIOLATION of {}: {}", violation.promise, violation.story);
    }
    if let Some(kept) = kept {
        eprintln!("  the histories are in {}", kept.display());
    }
}

/// The run has ended.
pub(crate) fn all(options: &Options, figures: &Figures) {
    println!("{}", table(options, figures));
    println!("{}", figures.to_json(options));
}

fn table(options: &Options, figures: &Figures) -> String {
    let mut table = String::from("| what | how often |\n|---|---:|\n");
    let mut row = |what: &str, value: &dyn std::fmt::Display| {
        writeln!(table, "| {what} | {value} |").expect("a String takes everything");
    };
    row(
        &format!(
            "{} on {}, {}",
            options.system(),
            options.server,
            options.topology.name()
        ),
        &"",
    );
    for (what, name) in SUMS {
        row(what, &figures.sum(name));
    }
    for (kind, counts) in &figures.kinds {
        row(kind, &counts.values().sum::<u64>());
        for (what, count) in counts {
            row(&format!("{kind}: {what}"), count);
        }
    }
    table
}
