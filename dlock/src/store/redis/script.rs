//! The texts of the scripts.

use std::sync::LazyLock;

use crate::protocol::Script;

const COMMON: &str = include_str!("lua/common.lua");

static SOURCES: LazyLock<[String; Script::ALL.len()]> = LazyLock::new(|| {
    Script::ALL.map(|script| bare(&own_text(script).replace("-- include: common.lua\n", COMMON)))
});

/// Without comments and indentation: servers are sent and compile each text once per connection.
fn bare(text: &str) -> String {
    let lines = text.lines().map(str::trim);
    let code = lines.filter(|line| !line.is_empty() && !line.starts_with("--"));
    code.map(|line| line.split(" -- ").next().unwrap_or(line))
        .flat_map(|line| [line, "\n"])
        .collect()
}

/// The text of a script, ready to be sent.
#[must_use]
pub fn source(script: Script) -> &'static str {
    // `ALL` lists the scripts in the order of their declaration.
    &SOURCES[script as usize]
}

fn own_text(script: Script) -> &'static str {
    match script {
        Script::Acquire => include_str!("lua/acquire.lua"),
        Script::Release => include_str!("lua/release.lua"),
        Script::Renew => include_str!("lua/renew.lua"),
        Script::Abandon => include_str!("lua/abandon.lua"),
        Script::Yield => include_str!("lua/yield.lua"),
        Script::Inspect => include_str!("lua/inspect.lua"),
    }
}

#[cfg(test)]
mod tests {
    use super::{own_text, source};
    use crate::protocol::Script;

    #[test]
    fn every_script_is_composed_from_its_own_text() {
        for script in Script::ALL {
            let (own, sent) = (own_text(script), source(script));
            assert!(!sent.contains("include:"), "{script:?}");
            // The comment is the only thing that a line may lose.
            let mut sent_lines = sent.lines();
            for line in own.lines().map(str::trim) {
                let code = line
                    .find("--")
                    .map_or(line, |start| line[..start].trim_end());
                assert!(
                    code.is_empty() || sent_lines.any(|sent| sent == code),
                    "{script:?}: {line}"
                );
            }
            assert!(!sent.contains("--"), "{script:?}");
        }
    }
}
