//! The texts of the scripts.

use std::sync::LazyLock;

use crate::protocol::Script;

const COMMON: &str = include_str!("lua/common.lua");

static SOURCES: LazyLock<[String; Script::ALL.len()]> = LazyLock::new(|| {
    Script::ALL.map(|script| own_text(script).replace("-- include: common.lua\n", COMMON))
});

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
            let first_line = own_text(script).lines().next().expect("a header");
            assert!(source(script).starts_with(first_line), "{script:?}");
            assert!(!source(script).contains("include:"), "{script:?}");
        }
    }
}
