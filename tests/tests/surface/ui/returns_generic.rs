use dlock::distributed_lock;

#[distributed_lock(key = "order")]
async fn ship<T>(order: T) -> T {
    order
}

fn main() {}
