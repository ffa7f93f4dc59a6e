use dlock::{Error, distributed_lock};

async fn later() {}

#[distributed_lock(key = "report")]
fn report() -> Result<(), Error> {
    later().await;
    Ok(())
}

fn main() {}
