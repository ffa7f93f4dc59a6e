//! What the tests of locks have in common.

use dlock::{Client, ClientBuilder, Error, RwLock, WriteGuard};
use tokio::task::JoinHandle;

use crate::{
    RedisCluster, RedisServer, SOON, shared_cluster, slot_of, soon, unique_prefix, wait_for,
    wait_until,
};

/// A client's settings, under a prefix. Several URLs, with spaces between them, are a quorum.
pub fn builder(url: &str, prefix: &str) -> ClientBuilder {
    let builder = Client::builder().prefix(prefix);
    if url.contains(' ') {
        builder.quorum(url.split(' '))
    } else {
        builder.url(url)
    }
}

/// A client under a prefix, with the default settings.
pub async fn connect(url: &str, prefix: &str) -> Client {
    let client = builder(url, prefix).build().await;
    client.unwrap_or_else(|error| panic!("{url}: {error:?}"))
}

/// The stores that ordinary tests run on: one in memory, and the shared cluster. Clients of one URL meet.
pub async fn stores() -> [String; 2] {
    let memory = format!("memory://{}", unique_prefix());
    [memory, shared_cluster().await.url()]
}

/// Waits until the lock has neither holders nor waiters.
pub async fn wait_free(lock: &RwLock) {
    wait_until(SOON, "the lock is free", || async {
        let info = lock.inspect().await.expect("the lock can be inspected");
        info.holders.is_empty() && info.waiters.is_empty()
    })
    .await;
}

/// Waits until so many wait in the lock's line on the server.
pub async fn wait_waiters(lock: &RwLock, count: usize) {
    wait_until(SOON, &format!("{count} wait for the lock"), || async {
        let info = lock.inspect().await.expect("the lock can be inspected");
        info.waiters.len() == count
    })
    .await;
}

/// A task that wants to write, and comes back with its guard.
pub fn queue(lock: &RwLock) -> JoinHandle<Result<WriteGuard, Error>> {
    let lock = lock.clone();
    tokio::spawn(async move { lock.write().await })
}

/// The guard of a waiting task; panics unless that comes soon.
#[track_caller]
pub fn its_turn<T>(waiting: JoinHandle<Result<T, Error>>) -> impl Future<Output = T> {
    let granted = soon(waiting);
    async move { granted.await.expect("no panic").expect("its turn") }
}

/// The channels that have subscribers at any of these servers, with `part` in their names.
pub async fn listening<'s>(
    servers: impl IntoIterator<Item = &'s RedisServer>,
    part: &str,
) -> Vec<String> {
    let mut channels = Vec::new();
    for server in servers {
        channels.extend(server.channels().await);
    }
    channels.retain(|channel| channel.contains(part));
    channels
}

/// Waits until so many channels with `part` in their names have subscribers at this server; their names.
pub async fn wait_listening(server: &RedisServer, part: &str, count: usize) -> Vec<String> {
    wait_for(
        SOON,
        &format!("{count} channels with {part:?} in their names have subscribers"),
        || async {
            let channels = listening([server], part).await;
            (channels.len() == count).then_some(channels)
        },
    )
    .await
}

/// A lock's slot, computed without the crate under test.
#[must_use]
pub fn slot_of_lock(prefix: &str, name: &str) -> u16 {
    slot_of(&format!("{prefix}:{{{name}}}"))
}

/// Names of locks on the shards of the masters with these numbers.
pub async fn names_on<const N: usize>(
    cluster: &RedisCluster,
    prefix: &str,
    masters: [usize; N],
) -> [String; N] {
    let mut names = masters.map(|_| None);
    for number in 0.. {
        let name = format!("lock:{number}");
        let master = cluster.master_of(slot_of_lock(prefix, &name)).await;
        let open = masters.iter().zip(&mut names);
        let mut open = open.filter(|(wanted, found)| **wanted == master && found.is_none());
        if let Some((_, found)) = open.next() {
            *found = Some(name);
        }
        if names.iter().all(Option::is_some) {
            break;
        }
    }
    names.map(|name| name.expect("the loop ends when all are found"))
}
