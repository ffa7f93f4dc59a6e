use dlock::testing::Scope;
use dlock::{Error, distributed_lock};

trait Shipping {
    async fn ship(&self, order_id: u64) -> Result<u64, Error>;
    fn count(&self) -> Result<u64, Error>;

    #[distributed_lock(key = "default")]
    async fn provided(&self) -> Result<u64, Error> {
        Ok(3)
    }
}

struct Post;

impl Shipping for Post {
    #[distributed_lock(key = "order:{order_id}")]
    async fn ship(&self, order_id: u64) -> Result<u64, Error> {
        Ok(order_id)
    }

    #[distributed_lock(key = "count")]
    fn count(&self) -> Result<u64, Error> {
        Ok(2)
    }
}

#[tokio::test]
async fn accepted() -> Result<(), Error> {
    let scope = Scope::memory().await?;
    scope
        .run(async {
            assert_eq!(Post.ship(1).await?, 1);
            assert_eq!(Post.provided().await?, 3);
            assert!(Post.count().is_err_and(|error| error.is_would_deadlock()));
            Ok(())
        })
        .await
}
