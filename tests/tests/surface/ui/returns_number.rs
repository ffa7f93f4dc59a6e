use dlock::distributed_lock;

#[distributed_lock(key = "order:{order_id}")]
async fn ship(order_id: u64) -> u64 {
    order_id
}

fn main() {}
