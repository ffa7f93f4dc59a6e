use dlock::{Error, distributed_lock};

struct Order;

#[distributed_lock(key = "order")]
impl Order {
    async fn ship(&self) -> Result<(), Error> {
        Ok(())
    }
}

fn main() {}
