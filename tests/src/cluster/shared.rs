//! One server and one cluster for all ordinary tests of a test binary.

use tokio::sync::OnceCell;

use super::RedisCluster;
use crate::RedisServer;

/// The cluster that the tests of this process share, started by the first of them.
///
/// For tests that keep to a [`unique_prefix`](crate::unique_prefix) and do nothing to the nodes. A static is
/// never dropped; the servers' watchdogs end them with the process.
pub async fn shared_cluster() -> &'static RedisCluster {
    static CLUSTER: OnceCell<RedisCluster> = OnceCell::const_new();
    CLUSTER.get_or_init(RedisCluster::start).await
}

/// The single server that the tests of this process share; see [`shared_cluster`].
pub async fn shared_server() -> &'static RedisServer {
    static SERVER: OnceCell<RedisServer> = OnceCell::const_new();
    SERVER.get_or_init(RedisServer::start).await
}
