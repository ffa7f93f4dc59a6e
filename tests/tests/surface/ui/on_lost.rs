use dlock::{Error, distributed_lock};

#[distributed_lock(key = "order:{order_id}", on_lost = "abort")]
async fn unknown(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

#[distributed_lock(key = "order:{order_id}", on_lost = cancel)]
async fn not_a_string(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

#[distributed_lock(key = "report", on_lost = "cancel")]
fn cancel_of_sync() -> Result<(), Error> {
    Ok(())
}

fn main() {}
