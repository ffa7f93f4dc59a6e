use dlock::testing::Scope;
use std::sync::Arc;

use dlock::{Client, Error, distributed_lock};

struct Service {
    locks: Arc<Client>,
}

impl Service {
    fn locks(&self) -> &Client {
        &self.locks
    }

    #[distributed_lock(key = "a", client = self.locks)]
    async fn field(&self) -> Result<(), Error> {
        Ok(())
    }

    #[distributed_lock(key = "a", client = self.locks())]
    async fn method(&mut self) -> Result<(), Error> {
        Ok(())
    }
}

#[distributed_lock(key = "a", client = client)]
async fn argument(client: &Client) -> Result<(), Error> {
    Ok(())
}

#[distributed_lock(key = "a", client = client)]
async fn pointer(client: Box<Client>) -> Result<(), Error> {
    Ok(())
}

#[tokio::test]
async fn accepted() -> Result<(), Error> {
    let scope = Scope::memory().await?;
    scope
        .run(async {
            let client = scope.client().clone();
            let mut service = Service {
                locks: Arc::new(client.clone()),
            };
            service.field().await?;
            service.method().await?;
            argument(&client).await?;
            pointer(Box::new(client)).await?;
            Ok(())
        })
        .await
}
