use dlock::{Error, distributed_lock};

#[distributed_lock(key = "order")]
trait Order {
    async fn ship(&self) -> Result<(), Error>;
}

fn main() {}
