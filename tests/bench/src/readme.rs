//! The tables of the README and of the guide's page on benchmarks, to be copied from here.

use crate::{
    results::{Results, markdown_table},
    system::{Kind, Polling},
};

/// Where a column's numbers are, and how they are shown.
#[derive(Clone, Copy)]
enum Column {
    One(&'static str, &'static str),
    Both(&'static str, [&'static str; 2]),
    /// Two counts.
    Range(&'static str, [&'static str; 2]),
}

use Column::{Both, One, Range};

struct Table {
    title: &'static str,
    columns: &'static [(&'static str, Column)],
    /// The systems, and what they are called here.
    rows: Vec<(String, String)>,
}

const P50: (&str, Column) = ("one task: p50 (µs)", One("w1", "p50"));
const TASKS_64: (&str, Column) = ("64 tasks, no contention: pairs/s", One("w2-64", "pairs"));
const TASKS_256: (&str, Column) = ("256 tasks: pairs/s", One("w2-256", "pairs"));
const HOT: (&str, Column) = (
    "hot key, 8 processes, held 1 ms: locks/s",
    One("w3-8", "acquisitions"),
);
const LONGEST: (&str, Column) = ("longest wait (ms)", One("w3-8", "wait max"));
const SHARES: (&str, Column) = (
    "locks of a process",
    Range("w3-8", ["fewest of a process", "most of a process"]),
);
const ONE_PROCESS: (&str, Column) = (
    "hot key, 64 tasks of one process: locks/s",
    One("w4", "acquisitions"),
);

const ALL: [(&str, Column); 11] = [
    P50,
    TASKS_64,
    TASKS_256,
    (
        "CPU for a pair, 64 tasks: client / server (µs)",
        Both("w2-64", ["client CPU", "server CPU"]),
    ),
    HOT,
    LONGEST,
    SHARES,
    ("commands each", One("w3-8", "round trips")),
    ONE_PROCESS,
    ("95 % readers: operations/s", One("w5", "operations")),
    (
        "longest wait of a writer (ms)",
        One("w5", "writer wait max"),
    ),
];

const README: [(&str, Column); 5] = [P50, TASKS_64, HOT, LONGEST, ONE_PROCESS];

const MUTEX: [(&str, Column); 7] = [P50, TASKS_64, TASKS_256, HOT, LONGEST, SHARES, ONE_PROCESS];

const QUORUM: [(&str, Column); 7] = [
    ("one process: locks/s", One("quorum-1", "acquisitions")),
    ("p50 (ms)", One("quorum-1", "wait p50")),
    ("server CPU for a lock (µs)", One("quorum-1", "server CPU")),
    (
        "hot key, 8 processes, held 1 ms: locks/s",
        One("quorum-8", "acquisitions"),
    ),
    ("wait, 99 % below (ms)", One("quorum-8", "wait p99")),
    ("longest (ms)", One("quorum-8", "wait max")),
    (
        "locks of a process",
        Range("quorum-8", ["fewest of a process", "most of a process"]),
    ),
];

/// The locks for Rust that are no part of dlock.
const OTHERS: &str = "rslock, redis-lock, rlock, rds_lock, distkit";

/// All tables for which there is a number.
pub(crate) fn tables(results: &Results) -> String {
    let mut text = String::new();
    for table in [readme(), all(), mutexes(), quorums()] {
        let rows = table.rows.iter().filter_map(|(system, name)| {
            let cells = table.columns.iter();
            let cells: Vec<_> = cells
                .map(|(_, column)| cell(results, system, *column))
                .collect();
            let measured = cells.iter().any(Option::is_some);
            let cells = cells.into_iter();
            let cells = cells.map(|cell| cell.unwrap_or_else(|| "–".to_owned()));
            measured.then(|| (name.as_str(), cells.collect()))
        });
        let rows: Vec<(&str, Vec<String>)> = rows.collect();
        if !rows.is_empty() {
            let headings: Vec<&str> = table.columns.iter().map(|(heading, _)| *heading).collect();
            text += &markdown_table(table.title, " ", &headings, rows);
        }
    }
    text
}

fn readme() -> Table {
    Table {
        title: "README",
        columns: &README,
        rows: by_their_names(&format!("dlock, {OTHERS}")),
    }
}

fn all() -> Table {
    let ours = "raw, raw-token, dlock, raw (cluster), dlock (cluster)";
    Table {
        title: "guide: read/write locks and the others",
        columns: &ALL,
        rows: by_their_names(&format!("{ours}, {OTHERS}")),
    }
}

fn mutexes() -> Table {
    let everywhere = |kind: Kind, name: &str| {
        ["", " (cluster)"].map(|site| (format!("{kind}{site}"), format!("{name}{site}")))
    };
    let theirs = [Kind::Rslock, Kind::RedisLock];
    let mut rows = Vec::from(everywhere(Kind::DlockMutex, "dlock, mutex"));
    for kind in theirs {
        rows.extend(everywhere(kind, kind.name()));
    }
    rows.extend(theirs.map(as_shipped));
    Table {
        title: "guide: mutexes",
        columns: &MUTEX,
        rows,
    }
}

fn quorums() -> Table {
    let often = |system: &str| (system.to_owned(), format!("{system}, every millisecond"));
    Table {
        title: "guide: a quorum",
        columns: &QUORUM,
        rows: vec![
            (
                Kind::Dlock.to_string(),
                "dlock, read/write lock, with tokens".to_owned(),
            ),
            (Kind::DlockMutex.to_string(), "dlock, mutex".to_owned()),
            often(Kind::Rslock.name()),
            as_shipped(Kind::Rslock),
            often("node-redlock"),
            as_shipped("node-redlock"),
        ],
    }
}

fn by_their_names(names: &str) -> Vec<(String, String)> {
    let names = names.split(", ");
    names
        .map(|name| (name.to_owned(), format!("`{name}`")))
        .collect()
}

/// A system that polls as seldom as it does by itself.
fn as_shipped(system: impl std::fmt::Display) -> (String, String) {
    let name = format!("{system}, as shipped");
    (Polling::AsShipped.label(system), name)
}

fn cell(results: &Results, system: &str, column: Column) -> Option<String> {
    let get = |workload, metric| results.get(workload, system, metric);
    Some(match column {
        One(workload, metric) => number(get(workload, metric)?),
        Both(workload, [one, other]) => {
            let (one, other) = (get(workload, one)?, get(workload, other)?);
            format!("{} / {}", number(one), number(other))
        }
        Range(workload, [least, most]) => {
            let (least, most) = (get(workload, least)?, get(workload, most)?);
            format!("{} – {}", whole(least), whole(most))
        }
    })
}

/// Two digits or three, or a whole number.
fn number(value: f64) -> String {
    match value {
        v if v < 1.0 => format!("{v:.2}"),
        v if v < 100.0 => format!("{v:.1}"),
        v => whole(v),
    }
}

/// A whole number, with commas.
fn whole(value: f64) -> String {
    let digits = format!("{value:.0}");
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}
