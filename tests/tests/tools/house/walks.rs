//! The walks of `DESIGN.md`.

use dlock_tests::house::{read, section};

/// Steps name a file, of `dlock/src` unless they say more, and functions in it: `` `lock/acquire.rs` `ask()` ``.
#[derive(Debug)]
pub(crate) struct Walk {
    pub(crate) title: String,
    pub(crate) lines: usize,
    /// Files, each with a function.
    pub(crate) steps: Vec<(String, String)>,
}

/// All walks.
pub(crate) fn walks() -> Vec<Walk> {
    let design = read("DESIGN.md");
    let parts = section(&design, "Walks").split("\n### ").skip(1);
    parts.map(walk).collect()
}

fn walk(text: &str) -> Walk {
    let (title, body) = text.split_once('\n').expect("a walk has steps");
    let mut file = None;
    let mut steps = Vec::new();
    for name in body.split('`').skip(1).step_by(2) {
        if name.strip_suffix(".rs").is_some() {
            file = Some(name.to_owned());
        } else if let Some(function) = name.strip_suffix("()") {
            let file = file.clone();
            let file = file.unwrap_or_else(|| panic!("{title}: {name} comes before a file"));
            steps.push((file, function.to_owned()));
        }
    }
    Walk {
        title: title.to_owned(),
        lines: body.trim().lines().count(),
        steps,
    }
}

/// Whether a source has a function of this name, be it a method.
pub(crate) fn has_function(source: &str, name: &str) -> bool {
    let name = name.rsplit("::").next().unwrap_or(name);
    let starts = |rest: &str| rest.starts_with(['(', '<']);
    let definition = format!("fn {name}");
    let mut found = source.split(&definition).skip(1);
    found.any(starts)
}
