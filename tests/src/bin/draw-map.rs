//! Prints the drawing of the rooms of `dlock/src`, or with `--write` puts it into `DESIGN.md`. See `scripts/map`.

use dlock_tests::house::{Table, drawing, in_repository, read, replace_drawing};

fn main() {
    let drawing = drawing(&Table::of_the_design());
    match std::env::args().nth(1).as_deref() {
        None => print!("{drawing}"),
        Some("--write") => {
            let page = replace_drawing(&read("DESIGN.md"), &drawing);
            std::fs::write(in_repository("DESIGN.md"), page).expect("DESIGN.md can be written");
        }
        Some(other) => panic!("unknown argument: {other}"),
    }
}
