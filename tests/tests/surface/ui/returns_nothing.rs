use dlock::distributed_lock;

#[distributed_lock(key = "order:{order_id}")]
async fn ship(order_id: u64) {
    drop(order_id);
}

#[distributed_lock(key = "order:{order_id}")]
async fn bill(order_id: u64) -> () {
    drop(order_id);
}

#[distributed_lock(key = "report")]
fn report() {}

fn main() {}
