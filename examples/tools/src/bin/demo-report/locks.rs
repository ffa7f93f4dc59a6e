//! The locks that are left when all shops have ended.

use dlock::Client;

use super::Failure;

/// How many holds there are on the locks of these articles and of the job.
pub(crate) async fn held(url: &str, skus: impl Iterator<Item = &str>) -> Result<usize, Failure> {
    let client = Client::connect(url).await?;
    let mut held = client.rw_lock("restock")?.inspect().await?.holders.len();
    for sku in skus {
        held += client
            .rw_lock(format!("sku:{sku}"))?
            .inspect()
            .await?
            .holders
            .len();
    }
    client.shutdown().await?;
    Ok(held)
}
