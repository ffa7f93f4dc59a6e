use dlock::testing::Scope;
use dlock::{Error, distributed_lock};

#[async_trait::async_trait]
trait Shipping: Send + Sync {
    async fn ship(&self, order_id: u64) -> Result<u64, Error>;
    async fn close(self: Box<Self>) -> Result<String, Error>;
}

struct Post {
    name: String,
}

#[async_trait::async_trait]
impl Shipping for Post {
    #[distributed_lock(key = "{self.name}:{order_id}")]
    async fn ship(&self, order_id: u64) -> Result<u64, Error> {
        tokio::task::yield_now().await;
        Ok(order_id)
    }

    #[distributed_lock(key = "{self.name}")]
    async fn close(self: Box<Self>) -> Result<String, Error> {
        Ok(self.name)
    }
}

#[tokio::test]
async fn accepted() -> Result<(), Error> {
    let scope = Scope::memory().await?;
    scope
        .run(async {
            let shipping: Box<dyn Shipping> = Box::new(Post {
                name: "post".to_owned(),
            });
            assert_eq!(
                tokio::spawn(scope.run(async move {
                    let shipped = shipping.ship(1).await;
                    drop(shipping.close().await);
                    shipped
                }))
                .await
                .ok()
                .transpose()?,
                Some(1)
            );
            Ok(())
        })
        .await
}
