//! A token for the storage to compare: what a late writer still sends is refused.
//!
//! ```text
//! the second write is stored
//! the first one comes late and is refused
//! the document says: second
//! ```

use dlock::{Client, Error, FencingToken, distributed_lock};

/// A storage that remembers the largest token. In SQL:
/// `UPDATE document SET text = ?, fence = ? WHERE id = ? AND fence < ?`.
#[derive(Default)]
struct Document {
    text: &'static str,
    fence: u64,
}

impl Document {
    fn store(&mut self, text: &'static str, token: FencingToken) -> bool {
        let is_newer = token.as_u64() > self.fence;
        if is_newer {
            (self.text, self.fence) = (text, token.as_u64());
        }
        is_newer
    }
}

/// What a write would send, and could be on its way for long.
#[distributed_lock(key = "document", guard = held)]
async fn begin_write() -> Result<FencingToken, Error> {
    Ok(held.fencing_token())
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    dlock::install(Client::connect("memory://").await?);
    let mut document = Document::default();
    let (first, second) = (begin_write().await?, begin_write().await?);
    if document.store("second", second) {
        println!("the second write is stored");
    }
    if !document.store("first", first) {
        println!("the first one comes late and is refused");
    }
    println!("the document says: {}", document.text);
    Ok(())
}
