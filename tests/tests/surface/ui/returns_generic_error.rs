use dlock::distributed_lock;

#[distributed_lock(key = "order:{order_id}")]
async fn ship<E>(order_id: u64) -> Result<u64, E> {
    Ok(order_id)
}

fn main() {}
