use std::rc::Rc;
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

#[distributed_lock(key = "a", client = *client)]
async fn pointer(client: Box<Rc<Client>>) -> Result<(), Error> {
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    dlock::install(Client::connect("memory://").await?);
    let client = dlock::installed()?;
    let mut service = Service { locks: Arc::new(client.clone()) };
    service.field().await?;
    service.method().await?;
    argument(&client).await?;
    pointer(Box::new(Rc::new(client))).await?;
    Ok(())
}
