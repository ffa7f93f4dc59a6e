use std::fmt::Display;

use dlock::{Client, Error, distributed_lock};

#[distributed_lock(key = "{what}")]
async fn bytes(what: impl Display + Send) -> Result<impl Iterator<Item = u8>, Error> {
    Ok(what.to_string().into_bytes().into_iter())
}

#[distributed_lock(key = "{what}")]
fn bytes_at_once(what: impl Display) -> Result<impl Iterator<Item = u8>, Error> {
    Ok(what.to_string().into_bytes().into_iter())
}

#[distributed_lock(key = "dynamic")]
async fn dynamic() -> Result<Box<dyn Fn(u32) -> u32 + Send>, Error> {
    Ok(Box::new(|x| x + 1))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    dlock::install(Client::connect("memory://").await?);
    assert_eq!(bytes("ab").await?.count(), 2);
    assert_eq!(dynamic().await?(1), 2);
    let _ = bytes_at_once::<&str>;
    Ok(())
}
