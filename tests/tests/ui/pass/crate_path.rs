use locks::dlock::{Client, Error};

mod locks {
    pub use dlock;
}

#[locks::dlock::distributed_lock(key = "a", crate = crate::locks::dlock)]
async fn ship() -> Result<u64, Error> {
    Ok(1)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    dlock::install(Client::connect("memory://").await?);
    assert_eq!(ship().await?, 1);
    use locks::dlock;
    Ok(())
}
