//! Makes functions of the README's Rust, which the test `readme` compiles and calls.

use std::{env, fs, path::Path};

const README: &str = "../README.md";

/// How the README's program begins; the test calls it from a runtime of its own.
const MAIN: &str = "#[tokio::main]\nasync fn main()";

fn main() {
    println!("cargo::rerun-if-changed={README}");
    let readme = fs::read_to_string(README).expect("the README is there");
    let blocks = readme.split("```rust\n").skip(1);
    let blocks = blocks.filter_map(|block| block.split("```").next());
    let (items, statements): (Vec<_>, Vec<_>) = blocks.partition(|block| block.contains("fn "));
    assert!(readme.contains(MAIN), "the README has a program");
    let [by_hand] = statements[..] else {
        panic!("tests/build.rs has to be told what is around {statements:?}");
    };
    let program = format!(
        "{}\n\
         async fn by_hand(client: dlock::Client, order: Order, db: Fenced) -> Result<(), AppError> {{\n\
         {by_hand}\nOk(())\n}}\n",
        items.concat().replace(MAIN, "async fn run()")
    );
    let folder = env::var_os("OUT_DIR").expect("Cargo says where");
    fs::write(Path::new(&folder).join("readme.rs"), program).expect("the folder is there");
}
