use dlock::{Error, distributed_lock};

#[distributed_lock(key = "report", on_lost = "cancel")]
fn report() -> Result<(), Error> {
    Ok(())
}

fn main() {}
