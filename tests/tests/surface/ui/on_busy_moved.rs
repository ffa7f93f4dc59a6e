use dlock::distributed_lock;

#[distributed_lock(key = "{name}", wait = "none", on_busy = name)]
async fn report(name: String) -> String {
    name
}

fn main() {}
