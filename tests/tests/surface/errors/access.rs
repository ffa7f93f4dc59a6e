//! Servers that cannot be reached, or refuse some users.

use std::time::Duration;

use dlock::{Client, ErrorKind};
use dlock_tests::{
    Direction, FaultProxy, RedisServer, ServerOptions, connect, scaled, shared_cluster,
    shared_server,
};

use crate::errors::expect::{SECRET, assert_says, error_of, open};

#[tokio::test]
async fn seeds_that_do_not_answer() {
    // A port that was free a moment ago, and one that accepts and never answers.
    let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = free.local_addr().expect("an address").port();
    drop(free);
    let silent = FaultProxy::start(shared_server().await.addr());
    silent.blackhole(Direction::Both);
    for url in [
        format!("redis://:{SECRET}@127.0.0.1:{port}"),
        format!("redis://:{SECRET}@127.0.0.1:{}", silent.addr().port()),
        format!(
            "redis://127.0.0.1:{port},127.0.0.1:{}",
            silent.addr().port()
        ),
        format!("redis://:{SECRET}@no-such-host.invalid:6379"),
    ] {
        let error = error_of(open(&url)).await;
        assert!(error.is_unavailable(), "{error:?}");
        assert!(error.to_string().contains("check that"), "{error}");
    }
    // One that answers is enough.
    let mixed = format!(
        "redis://127.0.0.1:{port},127.0.0.1:{}",
        shared_server().await.port()
    );
    open(&mixed).await.expect("the second seed answers");
}

#[tokio::test]
async fn passwords_and_rights() {
    let rules = format!("on >{SECRET}");
    let all = "+@all -@dangerous";
    let server = RedisServer::start_with(
        &ServerOptions::new()
            .password(SECRET)
            .user("no-scripts", &format!("{rules} ~* &* +@all -@scripting"))
            .user("no-keys", &format!("{rules} ~other:* &* +@all"))
            .user("no-writes", &format!("{rules} ~* &* +@all -hset"))
            .user("no-channels", &format!("{rules} ~* resetchannels {all}")),
    )
    .await;
    let at = format!("127.0.0.1:{}", server.port());
    for login in ["", ":wrong@", "app:wrong@", "no-scripts:wrong@"] {
        let error = error_of(open(&format!("redis://{login}{at}"))).await;
        assert_says(&error, ErrorKind::Unauthorized, &["password"]);
    }
    for user in ["no-scripts", "no-keys"] {
        let error = error_of(open(&format!("redis://{user}:{SECRET}@{at}"))).await;
        assert_says(
            &error,
            ErrorKind::Unauthorized,
            &["grant", user, "ACL SETUSER"],
        );
    }
    // A right that only shows when it is needed.
    let client = open(&format!("redis://no-writes:{SECRET}@{at}")).await;
    let lock = client
        .expect("reads work")
        .rw_lock("one")
        .expect("a good name");
    let error = error_of(lock.write()).await;
    assert_says(
        &error,
        ErrorKind::Unauthorized,
        &["grant", "no-writes", "ACL SETUSER", "`hset`"],
    );

    // Without channels waiters poll.
    let url = format!("redis://no-channels:{SECRET}@{at}");
    let client = open(&url).await.expect("enough");
    let lock = client.rw_lock("one").expect("a good name");
    let prefix = lock.key().as_str().split(':').next().expect("a prefix");
    let other = connect(&url, prefix).await;
    let other = other.rw_lock("one").expect("a good name");
    let guard = lock.write().await.expect("free");
    let (released, next) = tokio::join!(
        async {
            tokio::time::sleep(Duration::from_millis(30)).await;
            guard.release().await
        },
        other.write_timeout(scaled(Duration::from_secs(5))),
    );
    released.expect("held to the end");
    let next = next.expect("its turn");
    next.release().await.expect("held to the end");

    // The password shows up nowhere.
    let url = format!("redis://:{SECRET}@{at}");
    let builder = Client::builder().url(&url);
    assert!(!format!("{builder:?}").contains(SECRET), "{builder:?}");
    let client = builder.build().await.expect("the right password");
    assert!(!format!("{client:?}").contains(SECRET), "{client:?}");
    let lock = client.rw_lock("one").expect("a good name");
    assert!(!format!("{lock:?}").contains(SECRET), "{lock:?}");
}

/// Which databases a cluster has is for the server to say: Valkey 9 has several.
#[tokio::test]
async fn a_database_that_the_server_does_not_give() {
    let cluster = shared_cluster().await;
    let setting = ["CONFIG", "GET", "cluster-databases"];
    let (said, advice) = if cluster
        .query::<Vec<String>>("any", &setting)
        .await
        .is_empty()
    {
        (
            "not allowed in cluster mode",
            "this cluster has database 0 only",
        )
    } else {
        ("out of range", "`cluster-databases` in a cluster")
    };
    let cluster = cluster.url();
    let single = shared_server().await.url();
    let rules = format!("on >{SECRET} ~* &* +@all -select");
    let server = RedisServer::start_with(&ServerOptions::new().user("no-select", &rules)).await;
    let denied = format!("redis://no-select:{SECRET}@127.0.0.1:{}", server.port());
    for (url, database, said, advice) in [
        (&cluster, 12345, said, advice),
        (&single, 12345, "out of range", "`databases`"),
        (&denied, 1, "permission", "grant `+select`"),
    ] {
        let error = error_of(open(&format!("{url}/{database}"))).await;
        let leave_out = format!("leave the `/{database}`");
        assert_says(
            &error,
            ErrorKind::InvalidConfig,
            &[said, advice, &leave_out],
        );
        let others = error.to_string().contains("+select");
        assert_eq!(others, advice.contains("+select"), "{error}");
    }
}
