//! What a replica repeats, and what it may say.

use std::time::Duration;

use dlock::__internals::{
    ClientId, Extent, HoldId, Keys, Op, Script, ServerToken, Stray, encode, lock_key, script_source,
};
use dlock::LockKey;
use dlock_tests::{
    RedisServer, connect, publish_command, queue, scaled, unique_prefix, wait_listening,
    wait_until, wait_waiters,
};
use redis::{AsyncConnectionConfig, Cmd, PushInfo, PushKind};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use crate::demoted::servers::pair;

const SOON: Duration = Duration::from_secs(20);

/// Long after the test, in a server's time.
const LATER: u64 = 9_000_000_000_000_000;

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

/// A waiter may still listen where the master was. A grant that no subscriber received at the new master is taken back
/// there, and must not arrive all the same.
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
    let next = queue(&wanted);
    wait_waiters(&held, 1).await;
    let channel = wait_listening(&master, &prefix, 1).await.remove(0);

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

fn evaluate(script: Script, key: &LockKey, op: &Op, valid_until: u64) -> Cmd {
    let mut command = redis::cmd("EVAL");
    command.arg(script_source(script));
    encode(&mut command, key, Keys::All, op, "p", valid_until);
    command
}

/// All that may find a hold gone.
fn settling(hold: &HoldId, stray: Stray) -> [(Script, Op); 5] {
    let lease = Duration::from_secs(10);
    let renew = |extent| Op::Renew {
        hold: hold.clone(),
        lease,
        extent,
    };
    let hold = hold.clone();
    let (seen, given_up) = (ServerToken::new(1), hold.clone());
    [
        (Script::Renew, renew(Extent::Longer)),
        (Script::Renew, renew(Extent::Exactly { stray })),
        (
            Script::Abandon,
            Op::Abandon {
                hold: given_up,
                stray,
            },
        ),
        (
            Script::Yield,
            Op::Yield {
                hold: hold.clone(),
                lease,
                seen,
                stray,
                spent: None,
            },
        ),
        (
            Script::Release,
            Op::Release {
                hold,
                lease,
                stray,
                spent: None,
            },
        ),
    ]
}

/// It may not have heard of the hold, or have been emptied by its new master; whether a copy of the acquire may yet come, or
/// the last of them is over.
#[tokio::test]
async fn only_masters_say_that_a_hold_is_gone() {
    let (master, replica) = pair().await;
    let key = lock_key(&unique_prefix(), "one").expect("a valid name");
    let counter = std::sync::atomic::AtomicU64::new(1);
    let hold = HoldId::next(&ClientId::new("test"), &counter);
    // Without a record, with another client's hold in it, and when copies are known already.
    for known in ["nothing", "a hold", "a note"] {
        if known == "a hold" {
            let _: i64 = master
                .query(&[
                    "HSET",
                    key.as_str(),
                    "t",
                    "4",
                    "=other/1",
                    "w 9000000000 0 ",
                ])
                .await;
        } else if known == "a note" {
            let given_up = Op::Abandon {
                hold: hold.clone(),
                stray: Stray::Possible,
            };
            let request = evaluate(Script::Abandon, &key, &given_up, LATER);
            assert_eq!(say(&master, request).await, Ok(0));
        }
        wait_until(SOON, "the replica has it", || async {
            let length: i64 = master.query(&["HLEN", key.as_str()]).await;
            replica.query::<i64>(&["HLEN", key.as_str()]).await == length
        })
        .await;
        let strays = [
            (Stray::None, 0),
            (Stray::Possible, 1),
            (Stray::Possible, LATER),
        ];
        for (stray, until) in strays {
            for (script, op) in settling(&hold, stray) {
                let request = evaluate(script, &key, &op, until);
                let said = say(&replica, request.clone()).await;
                let refused = said
                    .as_ref()
                    .is_err_and(|error| error.contains("READONLY") || error.contains("read only"));
                assert!(refused, "{known}: {op:?} until {until}: {said:?}");
                // What a master notes would be known.
                if until != LATER {
                    let said = say(&master, request).await;
                    let settled =
                        matches!(said, Ok(found) if found == 0 || script == Script::Release);
                    assert!(settled, "{known}: {op:?} until {until}: {said:?}");
                }
            }
        }
    }
}

/// What a server answers.
async fn say(server: &RedisServer, request: Cmd) -> Result<i64, String> {
    let client = redis::Client::open(server.url()).expect("a valid address");
    let limit = Some(scaled(SOON));
    let config = AsyncConnectionConfig::new()
        .set_connection_timeout(limit)
        .set_response_timeout(limit);
    let connecting = client.get_multiplexed_async_connection_with_config(&config);
    let mut connection = connecting.await.expect("the server is up");
    let answer = request.query_async(&mut connection).await;
    answer.map_err(|error: redis::RedisError| error.to_string())
}
