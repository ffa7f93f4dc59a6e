use dlock::testing::Scope;
use dlock::{Error, distributed_lock};

const REGION: &str = "eu";

struct Order {
    id: u64,
    lines: Vec<u32>,
    customer: String,
}

impl Order {
    fn customer(&self) -> &str {
        &self.customer
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

/// As in `println!`, without the `r#`.
#[distributed_lock(key = "{type}:{r#type}", guard = lock)]
async fn sort(r#type: &str) -> Result<String, Error> {
    Ok(format!("{type}:{}", lock.key().name()))
}

#[tokio::test]
async fn accepted() -> Result<(), Error> {
    let scope = Scope::memory().await?;
    scope
        .run(async {
            let order = Order {
                id: 42,
                lines: vec![7],
                customer: "ann".to_owned(),
            };
            assert_eq!(ship(order, ('x', 1)).await?, "{eu}:00042:7:ann:'x' 1");
            assert_eq!(sort("tea").await?, "tea:tea:tea");
            Ok(())
        })
        .await
}
