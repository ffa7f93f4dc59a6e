#[distributed_lock(key = "page")]
pub(crate) async unsafe fn write(page: *mut u8) -> Result<(), Error> {
    Ok(())
}
