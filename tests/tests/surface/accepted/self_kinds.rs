use dlock::testing::Scope;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;

use dlock::{Error, distributed_lock};

#[derive(Clone)]
struct Service {
    tenant: String,
}

impl Service {
    #[distributed_lock(key = "{self.tenant}")]
    async fn shared(&self) -> Result<usize, Error> {
        Ok(self.tenant.len())
    }

    #[distributed_lock(key = "{self.tenant}")]
    async fn exclusive(&mut self) -> Result<&mut String, Error> {
        Ok(&mut self.tenant)
    }

    #[distributed_lock(key = "{self.tenant}")]
    async fn owned(self) -> Result<String, Error> {
        Ok(self.tenant)
    }

    #[distributed_lock(key = "{self.tenant}")]
    async fn owned_mutable(mut self) -> Result<String, Error> {
        self.tenant.push('!');
        Ok(self.tenant)
    }

    #[distributed_lock(key = "{self.tenant}")]
    async fn boxed(self: Box<Self>) -> Result<String, Error> {
        Ok(self.tenant)
    }

    #[distributed_lock(key = "{self.tenant}")]
    async fn counted(self: Rc<Self>) -> Result<usize, Error> {
        Ok(Rc::strong_count(&self))
    }

    #[distributed_lock(key = "{self.tenant}")]
    async fn atomic(self: &Arc<Self>) -> Result<usize, Error> {
        Ok(Arc::strong_count(self))
    }

    #[distributed_lock(key = "{self.tenant}")]
    async fn pinned(self: Pin<&mut Self>) -> Result<usize, Error> {
        Ok(self.tenant.len())
    }

    #[distributed_lock(key = "new")]
    async fn none() -> Result<Self, Error> {
        Ok(Self {
            tenant: "new".to_owned(),
        })
    }
}

#[tokio::test]
async fn accepted() -> Result<(), Error> {
    let scope = Scope::memory().await?;
    scope
        .run(async {
            let mut service = Service::none().await?;
            assert_eq!(service.shared().await?, 3);
            service.exclusive().await?.push('u');
            assert_eq!(Pin::new(&mut service).pinned().await?, 4);
            assert_eq!(service.clone().owned().await?, "newu");
            assert_eq!(service.clone().owned_mutable().await?, "newu!");
            assert_eq!(Box::new(service.clone()).boxed().await?, "newu");
            assert_eq!(Rc::new(service.clone()).counted().await?, 1);
            assert_eq!(Arc::new(service).atomic().await?, 1);
            Ok(())
        })
        .await
}
