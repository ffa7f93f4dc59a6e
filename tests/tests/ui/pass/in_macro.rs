use dlock::{Client, Error, distributed_lock};

macro_rules! locked {
    ($name:ident, $key:literal, $mode:expr) => {
        #[distributed_lock(key = $key, mode = $mode)]
        async fn $name(id: u64) -> Result<u64, Error> {
            Ok(id)
        }
    };
}

locked!(reads, "a", "read");
locked!(writes, "b", dlock::Mode::Write);

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    dlock::install(Client::connect("memory://").await?);
    assert_eq!(reads(1).await?, 1);
    assert_eq!(writes(2).await?, 2);
    Ok(())
}
