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

accepted!(self_kinds, {
    let mut service = Service::none().await?;
    assert_eq!(service.shared().await?, 3);
    service.exclusive().await?.push('u');
    assert_eq!(Pin::new(&mut service).pinned().await?, 4);
    assert_eq!(service.clone().owned().await?, "newu");
    assert_eq!(service.clone().owned_mutable().await?, "newu!");
    assert_eq!(Box::new(service.clone()).boxed().await?, "newu");
    assert_eq!(Rc::new(service.clone()).counted().await?, 1);
    assert_eq!(Arc::new(service).atomic().await?, 1);
});

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

accepted!(traits, {
    assert_eq!(Post.ship(1).await?, 1);
    assert_eq!(Post.provided().await?, 3);
    assert!(Post.count().is_err_and(|error| error.is_would_deadlock()));
});

#[async_trait::async_trait]
trait Courier: Send + Sync {
    async fn ship(&self, order_id: u64) -> Result<u64, Error>;
    async fn close(self: Box<Self>) -> Result<String, Error>;
}

struct Van {
    name: String,
}

#[async_trait::async_trait]
impl Courier for Van {
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

accepted!(async_traits, scope, {
    let courier: Box<dyn Courier> = Box::new(Van {
        name: "post".to_owned(),
    });
    let task = tokio::spawn(scope.run(async move {
        let shipped = courier.ship(1).await;
        drop(courier.close().await);
        shipped
    }));
    assert_eq!(task.await.ok().transpose()?, Some(1));
});
