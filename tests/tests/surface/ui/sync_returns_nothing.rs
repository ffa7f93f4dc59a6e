use dlock::distributed_lock;

#[distributed_lock(key = "report")]
fn report() {}

fn main() {}
