//! Servers whose scripts can do less than those of Redis: they have no `redis.set_repl`, or cannot publish. Releases succeed, and
//! who waits is told to look.

use dlock::{Client, Error, LockInfo, Mutex, RwLock};
use dlock_tests::{
    ClusterOptions, FaultProxy, ProxiedCluster, RedisServer, SOON, connect, listening,
    unique_prefix, wait_until,
};

const ROUNDS: u64 = 6;

/// What scripts lack.
#[derive(Clone, Copy, Debug)]
enum Lack {
    SetRepl,
    Publishing,
    Both,
}

impl Lack {
    const ALL: [Self; 3] = [Self::SetRepl, Self::Publishing, Self::Both];

    fn apply(self, proxy: &FaultProxy) {
        if !matches!(self, Self::Publishing) {
            proxy.alter_scripts("redis.set_repl", "redis.set_none");
            proxy.alter_scripts("redis.REPL_", "redis.NONE_");
        }
        if !matches!(self, Self::SetRepl) {
            proxy.alter_scripts("'SPUBLISH'", "'NPUBLISH'");
            proxy.alter_scripts("'PUBLISH'", "'NUBLISH'");
        }
    }
}

/// A lock of either kind.
#[derive(Debug)]
enum Lock {
    Rw(RwLock),
    Mutex(Mutex),
}

impl Lock {
    fn rw(client: &Client, name: &str) -> Self {
        Self::Rw(client.rw_lock(name).expect("a valid name"))
    }

    fn mutex(client: &Client, name: &str) -> Self {
        Self::Mutex(client.mutex(name).expect("a valid name"))
    }

    /// Takes it and gives it back after `hold`.
    async fn hold(&self, hold: impl Future<Output = ()>) -> Result<(), Error> {
        match self {
            Self::Rw(lock) => {
                let guard = lock.write().await?;
                hold.await;
                guard.release().await
            }
            Self::Mutex(mutex) => {
                let guard = mutex.lock().await?;
                hold.await;
                guard.release().await
            }
        }
    }

    async fn inspect(&self) -> LockInfo {
        let info = match self {
            Self::Rw(lock) => lock.inspect().await,
            Self::Mutex(mutex) => mutex.inspect().await,
        };
        info.expect("answered")
    }
}

/// One holds, the other waits in the line and listens; then the first gives it back, and the other has it.
async fn pass_on<F: Future<Output = bool>>(ours: &Lock, theirs: &Lock, listens: impl Fn() -> F) {
    for _ in 0..ROUNDS {
        let waiting = async {
            wait_until(SOON, "one holds", || async {
                !ours.inspect().await.holders.is_empty()
            })
            .await;
            theirs.hold(async {}).await
        };
        let until_heard = async {
            wait_until(SOON, "the other waits", || async {
                !theirs.inspect().await.waiters.is_empty()
            })
            .await;
            wait_until(SOON, "it listens", &listens).await;
        };
        let (held, had) = tokio::join!(ours.hold(until_heard), waiting);
        held.expect("a release is a release");
        had.expect("its turn");
    }
}

#[tokio::test]
async fn a_contended_release_succeeds_and_the_next_one_is_told_on_a_server() {
    for lack in Lack::ALL {
        let server = RedisServer::start().await;
        let proxy = FaultProxy::start(server.addr());
        lack.apply(&proxy);
        let prefix = unique_prefix();
        let ours = connect(&proxy.url(), &prefix).await;
        let theirs = connect(&proxy.url(), &prefix).await;
        for kind in [Lock::rw, Lock::mutex] {
            let (ours, theirs) = (kind(&ours, "lean"), kind(&theirs, "lean"));
            let before = proxy.counters().pushes;
            // A client has one channel for all locks of a single server.
            let hears = async || !listening([&server], &prefix).await.is_empty();
            Box::pin(pass_on(&ours, &theirs, hears)).await;
            let told = proxy.counters().pushes - before;
            assert!(told >= ROUNDS, "{lack:?}, {ours:?}: told {told} times");
        }
    }
}

#[tokio::test]
async fn a_contended_release_succeeds_and_the_next_one_is_told_on_a_cluster() {
    let options = ClusterOptions::new().masters(2).replicas(0);
    for lack in Lack::ALL {
        let cluster = ProxiedCluster::start_with(&options).await;
        for proxy in cluster.proxies() {
            lack.apply(proxy);
        }
        let prefix = unique_prefix();
        let ours = connect(&cluster.url(), &prefix).await;
        let theirs = connect(&cluster.url(), &prefix).await;
        for kind in [Lock::rw, Lock::mutex] {
            // Each lock has a channel of its own here, which outlives the wait. Another lock's must not count as this one's.
            let name = unique_prefix();
            let (ours, theirs) = (kind(&ours, &name), kind(&theirs, &name));
            let nodes = || cluster.cluster().nodes();
            let hears = async || !listening(nodes(), &name).await.is_empty();
            let pushes = || -> u64 {
                let proxies = cluster.proxies().iter();
                proxies.map(|proxy| proxy.counters().pushes).sum()
            };
            let before = pushes();
            Box::pin(pass_on(&ours, &theirs, hears)).await;
            let told = pushes() - before;
            assert!(told >= ROUNDS, "{lack:?}, {ours:?}: told {told} times");
        }
    }
}
