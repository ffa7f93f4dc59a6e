use dlock::{Error, distributed_lock};

trait Order {
    #[distributed_lock(key = "order")]
    fn ship(&self) -> Result<(), Error>;
}

fn main() {}
