use dlock::{Error, distributed_lock};

struct Order {
    id: u64,
}

#[distributed_lock(key = "order:{order.ident}")]
async fn ship(order: Order) -> Result<u64, Error> {
    Ok(order.id)
}

fn main() {}
