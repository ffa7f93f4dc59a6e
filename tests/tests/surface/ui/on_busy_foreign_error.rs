use dlock::distributed_lock;

struct MyError;

#[distributed_lock(key = "report", wait = "none", on_busy = Ok(false))]
async fn report() -> Result<bool, MyError> {
    Ok(true)
}

fn main() {}
