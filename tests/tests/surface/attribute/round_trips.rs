//! What the attribute sends, compared with the guard API.

use dlock::{Client, Error, distributed_lock};
use dlock_tests::{ClusterOptions, RedisCluster, connect, unique_prefix};

const CALLS: u64 = 20;

#[distributed_lock(key = "{{order}}:{id}", client = client)]
async fn annotated(client: &Client, id: u64) -> Result<(), Error> {
    inner(client, id).await?;
    inner(client, id).await
}

#[distributed_lock(key = "{{order}}:{id}", client = client, mode = "read")]
async fn inner(client: &Client, id: u64) -> Result<(), Error> {
    Ok(())
}

async fn by_hand(client: &Client, id: u64) -> Result<(), Error> {
    let guard = client.rw_lock(format!("{{order}}:{id}"))?.write().await?;
    guard.release().await
}

#[distributed_lock(keys = ["{{order}}:{id}", "{{order}}:{id}:b", "{{order}}:{id}:c"], client = client)]
async fn three(client: &Client, id: u64) -> Result<(), Error> {
    Ok(())
}

/// Requests that were sent while `calls` was awaited, if no other client wants the locks.
async fn requests(cluster: &RedisCluster, calls: impl Future<Output = Result<(), Error>>) -> u64 {
    let before = cluster.command_stats().await;
    calls.await.expect("free");
    let ran = cluster.command_stats().await.since(&before);
    // An acquire is a script in which no field is deleted; a release is the deletion of one.
    ran.calls("evalsha") + ran.calls("eval") + ran.calls("hdel")
}

#[tokio::test]
async fn an_annotated_call_sends_what_the_guards_send() {
    let cluster = RedisCluster::start_with(&ClusterOptions::new().replicas(0)).await;
    let client = connect(&cluster.url(), &unique_prefix()).await;
    by_hand(&client, 0).await.expect("loads the scripts");

    let guards = requests(
        &cluster,
        Box::pin(async {
            for id in 0..CALLS {
                by_hand(&client, id).await?;
            }
            Ok(())
        }),
    )
    .await;
    let attribute = requests(
        &cluster,
        Box::pin(async {
            for id in 0..CALLS {
                annotated(&client, id).await?;
            }
            Ok(())
        }),
    )
    .await;
    let several = requests(
        &cluster,
        Box::pin(async {
            for id in 0..CALLS {
                three(&client, id).await?;
            }
            Ok(())
        }),
    )
    .await;
    assert_eq!(guards, 2 * CALLS, "one to acquire, one to release");
    assert_eq!(attribute, guards, "nested calls send nothing");
    assert_eq!(
        several,
        3 * guards,
        "each lock is asked for and given back once"
    );
}
