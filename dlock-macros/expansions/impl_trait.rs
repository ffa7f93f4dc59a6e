#[distributed_lock(key = "{what}")]
async fn bytes(what: impl Display) -> Result<impl Iterator<Item = u8>, Error> {
    Ok(what.to_string().into_bytes().into_iter())
}
