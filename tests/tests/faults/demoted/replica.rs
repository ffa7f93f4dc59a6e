//! What a replica repeats, and what it may say.

use std::time::Duration;

use dlock::__internals::{
    ClientId, Extent, HoldId, Op, Script, ServerToken, Stray, encode, lock_key, script_source,
};
use dlock::LockKey;
use dlock_tests::{
    RedisServer, connect, publish_command, unique_prefix, wait_for, wait_until, wait_waiters,
};
use redis::{AsyncConnectionConfig, Cmd, PushInfo, PushKind};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

const SOON: Duration = Duration::from_secs(20);

/// A master, and a replica that follows it.
async fn pair() -> (RedisServer, RedisServer) {
    let (master, replica) = (RedisServer::start().await, RedisServer::start().await);
    let port = master.port().to_string();
    let _: () = replica.query(&["REPLICAOF", "127.0.0.1", &port]).await;
    wait_until(SOON, "the replica follows", || async {
        let told = replica.info("replication").await;
        told.is_ok_and(|told| told.contains("master_link_status:up"))
    })
    .await;
    (master, replica)
}

/// Hears what comes on a channel at a server.
async fn hear(
    server: &RedisServer,
    channel: &str,
) -> (
    redis::aio::MultiplexedConnection,
    UnboundedReceiver<PushInfo>,
) {
    let (sender, heard) = unbounded_channel();
    let url = format!("{}?protocol=resp3", server.url());
    let config = AsyncConnectionConfig::new().set_push_sender(sender);
    let client = redis::Client::open(url).expect("a valid address");
    let connecting = client.get_multiplexed_async_connection_with_config(&config);
    let mut connection = connecting.await.expect("the server is up");
    let subscribe = publish_command().replace("PUBLISH", "SUBSCRIBE");
    let asked: redis::RedisResult<redis::Value> = redis::cmd(&subscribe)
        .arg(channel)
        .query_async(&mut connection)
        .await;
    asked.expect("subscribed");
    (connection, heard)
}

/// A waiter may still listen where the master was. A grant that nobody heard at the new one is taken back there, and must
/// not arrive all the same.
#[tokio::test]
async fn a_replica_does_not_repeat_a_grant() {
    let (master, replica) = pair().await;
    let prefix = unique_prefix();
    let (from, to) = (
        connect(&master.url(), &prefix).await,
        connect(&master.url(), &prefix).await,
    );
    let held = from.rw_lock("one").expect("a valid name");
    let wanted = to.rw_lock("one").expect("a valid name");
    let guard = held.write().await.expect("free");
    let next = tokio::spawn(async move { wanted.write().await });
    wait_waiters(&held, 1).await;
    let channel = wait_for(SOON, "the waiter listens", || async {
        let mut channels = master.channels().await.into_iter();
        channels.find(|channel| channel.starts_with(&prefix))
    })
    .await;

    let (_connection, mut heard) = hear(&replica, &channel).await;
    guard.release().await.expect("held to the end");
    let guard = next.await.expect("no panic").expect("its turn");
    // What a client publishes is repeated, in the order of all that is.
    let _: i64 = master
        .query(&[publish_command(), &channel, "the end"])
        .await;
    let first = loop {
        let push = heard.recv().await.expect("the connection is open");
        if matches!(push.kind, PushKind::Message | PushKind::SMessage) {
            break push.data;
        }
    };
    assert_eq!(
        first.get(1),
        Some(&redis::Value::BulkString(b"the end".to_vec()))
    );
    guard.release().await.expect("held to the end");
}

fn evaluate(script: Script, key: &LockKey, op: &Op) -> Cmd {
    let mut command = redis::cmd("EVAL");
    command.arg(script_source(script));
    encode(&mut command, key, op, "P", 0);
    command
}

/// It may not have heard of the hold, or have been emptied by its new master.
#[tokio::test]
async fn only_masters_say_that_a_hold_is_gone() {
    let (master, replica) = pair().await;
    let key = lock_key(&unique_prefix(), "one").expect("a valid name");
    let counter = std::sync::atomic::AtomicU64::new(1);
    let hold = HoldId::next(&ClientId::new("test"), &counter);
    let lease = Duration::from_secs(10);
    let requests = [
        (
            Script::Renew,
            Op::Renew {
                hold: hold.clone(),
                lease,
                extent: Extent::Longer,
            },
        ),
        (
            Script::Release,
            Op::Release {
                hold: hold.clone(),
                lease,
                stray: Stray::None,
            },
        ),
        (
            Script::Abandon,
            Op::Abandon {
                hold: hold.clone(),
                stray: Stray::None,
            },
        ),
        (
            Script::Yield,
            Op::Yield {
                hold,
                lease,
                seen: ServerToken::new(1),
                stray: Stray::None,
            },
        ),
    ];
    // Without a record, and with somebody else's hold in it.
    for held in [false, true] {
        if held {
            let _: i64 = master
                .query(&["HSET", key.as_str(), "t", "4", "=other/1", "w 9000000000 "])
                .await;
            wait_until(SOON, "the replica has it", || async {
                replica.query::<i64>(&["HLEN", key.as_str()]).await == 2
            })
            .await;
        }
        for (script, op) in &requests {
            for (server, may) in [(&master, true), (&replica, false)] {
                let client = redis::Client::open(server.url()).expect("a valid address");
                let connecting = client.get_multiplexed_async_connection();
                let mut connection = connecting.await.expect("the server is up");
                let answer: redis::RedisResult<i64> = evaluate(*script, &key, op)
                    .query_async(&mut connection)
                    .await;
                if may {
                    assert!(
                        answer.is_ok_and(|found| found == 0 || *script == Script::Release),
                        "{op:?}"
                    );
                } else {
                    let error = answer
                        .expect_err("it is not for a replica to say")
                        .to_string();
                    assert!(
                        error.contains("READONLY") || error.contains("read only"),
                        "{op:?}: {error}"
                    );
                }
            }
        }
    }
}
