//! The command-line tool.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::LazyLock,
};

/// The tool `dlock`, built as it is now: Cargo builds only programs of a test's own package for it.
#[must_use]
pub fn dlock_tool() -> &'static Path {
    static TOOL: LazyLock<PathBuf> = LazyLock::new(build);
    &TOOL
}

fn build() -> PathBuf {
    // The features of the build that this is part of, as far as that can be told: most of it will do for the tool too.
    let features: &[&str] = if cfg!(feature = "tls") {
        &["--workspace", "--all-features"]
    } else {
        &["--package=dlock-cli", "--package=dlock-tests"]
    };
    let output = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--bin=dlock", "--message-format=json"])
        .args(features)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .stderr(Stdio::inherit())
        .output()
        .expect("cargo starts");
    assert!(output.status.success(), "the tool cannot be built");
    let text = String::from_utf8(output.stdout).expect("JSON is text");
    let mut built = text.lines().filter_map(|line| {
        let message: serde_json::Value = serde_json::from_str(line).ok()?;
        message["executable"].as_str().map(PathBuf::from)
    });
    built.next().expect("cargo says where it is")
}
