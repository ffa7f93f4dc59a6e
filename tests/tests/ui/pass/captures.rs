use dlock::{Client, Error, distributed_lock};

const REGION: &str = "eu";

struct Order {
    id: u64,
    lines: Vec<u32>,
}

impl Order {
    fn customer(&self) -> &str {
        "ann"
    }
}

#[distributed_lock(
    key = "{{{REGION}}}:{order.id:05}:{order.lines[0]}:{order.customer()}:{pair.0:?}",
    guard = lock
)]
async fn ship(order: Order, pair: (char, u8)) -> Result<String, Error> {
    drop(order);
    Ok(format!("{} {}", lock.key().name(), pair.1))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    dlock::install(Client::connect("memory://").await?);
    let order = Order { id: 42, lines: vec![7] };
    assert_eq!(ship(order, ('x', 1)).await?, "{eu}:00042:7:ann:'x' 1");
    Ok(())
}
