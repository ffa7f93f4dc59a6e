//! The README's Rust compiles and runs. `tests/build.rs` makes functions of it.

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
    async fn open() -> Result<Self, AppError> {
        tokio::task::yield_now().await;
        Ok(Self)
    }

    async fn load(&self, order_id: u64) -> Result<Order, AppError> {
        tokio::task::yield_now().await;
        Ok(Order(order_id))
    }

    async fn store(&self, order: Order) -> Result<Receipt, AppError> {
        tokio::task::yield_now().await;
        Ok(order.0)
    }
}

/// One that compares tokens.
struct Fenced;

impl Fenced {
    async fn store(&self, order: Order, fence: u64) -> Result<(), AppError> {
        tokio::task::yield_now().await;
        assert!(order.0 > 0 && fence > 0);
        Ok(())
    }
}

include!(concat!(env!("OUT_DIR"), "/readme.rs"));

#[tokio::test]
async fn its_rust_compiles_and_runs() -> Result<(), AppError> {
    run().await?;
    let client = dlock::Client::connect("memory://").await?;
    dlock::install(client.clone());
    assert_eq!(ship(42, &Db).await?, 42);
    by_hand(client, Order(42), Fenced).await
}
