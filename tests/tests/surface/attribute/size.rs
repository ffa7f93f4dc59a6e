//! How large the futures of annotated functions are.

use dlock::{Client, Error, distributed_lock};
use dlock_tests::{connect, unique_prefix};

#[distributed_lock(key = "a", client = client)]
async fn outer(client: &Client) -> Result<(), Error> {
    inner(client).await
}

#[distributed_lock(key = "b", client = client)]
async fn inner(client: &Client) -> Result<(), Error> {
    tokio::task::yield_now().await;
    Ok(())
}

#[tokio::test]
async fn a_level_of_nesting_costs_little() {
    let client = connect("memory://", &unique_prefix()).await;
    let (one, two) = (inner(&client), outer(&client));
    let (one, two) = (size_of_val(&one), size_of_val(&two));
    assert!(one < 2_048 && two - one < 2_048, "{one} and {two} bytes");
}
