//! The README's Rust compiles; what needs no server runs.

use std::{fs, path::Path};

/// What the README leaves to its readers.
const AROUND: &str = "
use std::time::Duration;

type AppError = Box<dyn std::error::Error + Send + Sync>;
type Receipt = u64;

struct Order(u64);

impl Order {
    fn shipped(self) -> Self {
        self
    }
}

struct Db;

impl Db {
    async fn load(&self, order_id: u64) -> Result<Order, AppError> {
        Ok(Order(order_id))
    }

    async fn store(&self, order: Order) -> Result<Receipt, AppError> {
        Ok(order.0)
    }
}

/// One that compares tokens.
struct Fenced;

impl Fenced {
    async fn store(&self, _order: Order, fence: u64) -> Result<(), AppError> {
        assert!(fence > 0);
        Ok(())
    }
}
";

const MAIN: &str = r#"
#[tokio::main]
async fn main() -> Result<(), AppError> {
    let client = dlock::Client::connect("memory://").await?;
    dlock::install(client.clone());
    assert_eq!(ship(42, &Db).await?, 42);
    by_hand(client, Order(42), Fenced).await
}
"#;

/// A program of the README's blocks: items as they are, statements in functions. Those of the first are for the start of
/// a process, and want servers.
fn program(readme: &str) -> String {
    let blocks = readme.split("```rust\n").skip(1);
    let blocks = blocks.filter_map(|block| block.split("```").next());
    let (items, statements): (Vec<_>, Vec<_>) = blocks.partition(|block| block.contains("fn "));
    let [start, by_hand] = statements[..] else {
        panic!("tell here what is around {statements:?}");
    };
    format!(
        "{}\n{AROUND}\n\
         #[expect(dead_code, reason = \"there are no servers\")]\n\
         async fn start() -> Result<(), AppError> {{\n{start}\nOk(())\n}}\n\n\
         async fn by_hand(client: dlock::Client, order: Order, db: Fenced) -> Result<(), AppError> {{\n\
         {by_hand}\nOk(())\n}}\n{MAIN}",
        items.concat()
    )
}

#[test]
fn its_rust_compiles_and_runs() {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../README.md");
    let readme = fs::read_to_string(readme).expect("the README is there");
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("readme.rs");
    fs::write(&path, program(&readme)).expect("the folder is there");
    trybuild::TestCases::new().pass(path);
}
