//! Each example prints what its first lines say.

use std::{path::Path, process::Command};

/// Runs an example without any setting of the environment, and returns its output.
fn run(program: &str) -> String {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("DLOCK_") {
            command.env_remove(name);
        }
    }
    let output = command.output().expect("it starts");
    assert!(output.status.success(), "{program}: {output:?}");
    String::from_utf8(output.stdout).expect("text")
}

/// The block of text in the documentation of an example.
fn promised(example: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("src/bin/{example}.rs"));
    let source = std::fs::read_to_string(path).expect("the source is here");
    let (_, block) = source.split_once("//! ```text\n").expect("it has a block");
    let (block, _) = block.split_once("//! ```\n").expect("the block ends");
    block.replace("//! ", "")
}

macro_rules! examples {
    ($($example:ident)*) => {
        $(
            #[test]
            fn $example() {
                let printed = run(env!(concat!("CARGO_BIN_EXE_", stringify!($example))));
                assert_eq!(printed, promised(stringify!($example)));
            }
        )*

        #[test]
        fn none_is_forgotten() {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/bin");
            for entry in std::fs::read_dir(folder).expect("the sources are here") {
                let entry = entry.expect("it can be read");
                let name = entry.file_name();
                let name = name.to_str().expect("text");
                // A program of several files is more than an example of one thing.
                let Some(example) = name.strip_suffix(".rs") else { continue };
                let source = std::fs::read_to_string(entry.path()).expect("text");
                assert!(source.lines().count() <= 60, "{example} is short");
                let known = ["quickstart" $(, stringify!($example))*];
                assert!(known.contains(&example), "{example} is not run here");
            }
        }
    };
}

examples! {
    blocking clients fencing lost_hold metrics read_write reentry several_keys timeout try_lock unit_test
}

/// How many updates are lost without the lock is left to chance.
#[test]
fn quickstart() {
    let printed = run(env!("CARGO_BIN_EXE_quickstart"));
    assert!(printed.starts_with("without the lock: 400 deposits, "));
    assert!(printed.contains("\nwith the lock:    400 deposits, 0 lost\n"));
    assert!(
        printed.ends_with("\nOK: 400 updates, 0 lost\n"),
        "{printed}"
    );
}
