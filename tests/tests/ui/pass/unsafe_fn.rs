use dlock::{Client, Error, distributed_lock};

/// # Safety
///
/// None needed.
#[distributed_lock(key = "a")]
async unsafe fn dangerous() -> Result<u64, Error> {
    Ok(1)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    dlock::install(Client::connect("memory://").await?);
    assert_eq!(unsafe { dangerous() }.await?, 1);
    Ok(())
}
