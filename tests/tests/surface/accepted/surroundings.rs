use std::sync::Arc;

use dlock::{Client, Error, distributed_lock};
use tracing::instrument;

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

accepted!(clients, scope, {
    let client = scope.client().clone();
    let mut service = Service {
        locks: Arc::new(client.clone()),
    };
    service.field().await?;
    service.method().await?;
    argument(&client).await?;
    pointer(Box::new(client)).await?;
});

mod locks {
    pub(super) extern crate dlock;
}

#[locks::dlock::distributed_lock(key = "a", crate = locks::dlock)]
async fn ship() -> Result<u64, locks::dlock::Error> {
    Ok(1)
}

accepted!(crate_path, {
    assert_eq!(ship().await?, 1);
});

macro_rules! locked {
    ($name:ident, $key:literal, $mode:expr) => {
        #[distributed_lock(key = $key, mode = $mode)]
        async fn $name(id: u64) -> Result<u64, Error> {
            Ok(id)
        }
    };
}

locked!(reads, "a", "read");
locked!(writes, "b", dlock::LockMode::Write);

accepted!(in_macro, {
    assert_eq!(reads(1).await?, 1);
    assert_eq!(writes(2).await?, 2);
});

/// Documented.
#[instrument]
#[distributed_lock(key = "order:{order_id}")]
#[allow(dead_code, reason = "an attribute of the function's own")]
async fn inside(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

#[distributed_lock(key = "order:{order_id}")]
#[instrument(err)]
#[cfg(not(windows))]
pub(crate) async fn outside(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

accepted!(under_other_attributes, {
    assert_eq!(inside(1).await?, 1);
    assert_eq!(outside(2).await?, 2);
});
