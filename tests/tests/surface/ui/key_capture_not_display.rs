use dlock::{Error, distributed_lock};

struct Id;

#[distributed_lock(key = "order:{id}")]
async fn ship(id: Id) -> Result<(), Error> {
    drop(id);
    Ok(())
}

fn main() {}
