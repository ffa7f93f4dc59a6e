use dlock::{Error, distributed_lock};

#[distributed_lock(key = "order")]
struct Parcel;

struct Order;

#[distributed_lock(key = "order")]
impl Order {
    async fn ship(&self) -> Result<(), Error> {
        Ok(())
    }
}

#[distributed_lock(key = "order")]
trait Shipping {
    async fn ship(&self) -> Result<(), Error>;
}

trait Billing {
    #[distributed_lock(key = "order")]
    fn bill(&self) -> Result<(), Error>;
}

#[distributed_lock(key = "order:{order_id}")]
const fn constant(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

#[distributed_lock(key = "order:{order_id}")]
extern "C" fn foreign(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

fn main() {}
