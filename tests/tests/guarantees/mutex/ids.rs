//! Whose hold it is, to the last character.

use std::time::Duration;

use dlock::__internals::{
    Extent, HoldId, Keys, Op, Script, Stray, encode, encode_brief, mutex_key, script_source,
};
use dlock::{LockKey, LockKind};
use dlock_tests::{shared_server, unique_prefix};
use redis::aio::MultiplexedConnection;

const LEASE: Duration = Duration::from_secs(30);
const LONGER: Duration = Duration::from_secs(300);

/// What a client asks for about a hold of its own, or does not have any more.
fn operations(hold: &HoldId) -> [Op; 4] {
    let hold = || hold.clone();
    [
        Op::Release {
            hold: hold(),
            lease: LEASE,
            stray: Stray::None,
            spent: None,
        },
        Op::Release {
            hold: hold(),
            lease: LEASE,
            stray: Stray::Possible,
            spent: None,
        },
        Op::Abandon {
            hold: hold(),
            stray: Stray::None,
        },
        Op::Renew {
            hold: hold(),
            lease: LONGER,
            extent: Extent::Longer,
        },
    ]
}

async fn ask(connection: &mut MultiplexedConnection, command: &redis::Cmd) -> redis::Value {
    let answer = command.query_async(connection).await;
    answer.expect("the server carries it out")
}

/// One operation in every form in which a client may send it.
fn forms(key: &LockKey, op: &Op) -> Vec<redis::Cmd> {
    let script = Script::of(key.kind(), op);
    let mut forms = Vec::new();
    for keys in [Keys::All, Keys::First] {
        let mut eval = redis::cmd("EVAL");
        eval.arg(script_source(script));
        encode(&mut eval, key, keys, op, "P", (1 << 53) - 1);
        forms.push(eval);
    }
    if let Some(brief) = Script::brief(key.kind(), op) {
        let mut eval = redis::cmd("EVAL");
        eval.arg(script_source(brief));
        encode_brief(&mut eval, key, op);
        forms.push(eval);
    }
    forms
}

#[tokio::test]
async fn a_hold_whose_id_begins_or_ends_like_another_is_left_alone() {
    let client = redis::Client::open(shared_server().await.url()).expect("a valid URL");
    let connection = client.get_multiplexed_async_connection().await;
    let mut connection = connection.expect("the server answers");
    let client = format!("client/{:016x}", 7);
    let mine = HoldId::parse(&format!("{client}/1a")).expect("an id");
    for theirs in ["1a0", "1", "a", "01a"].map(|number| format!("{client}/{number}")) {
        for mark in ["", "+"] {
            for op in operations(&mine) {
                for number in 0..forms(&mutex_of(), &op).len() {
                    // Without a hash beside it.
                    let key = mutex_of();
                    let form = &forms(&key, &op)[number];
                    let value = format!("{theirs}{mark}");
                    let mut set = redis::cmd("SET");
                    set.arg(key.as_str()).arg(&value).arg("PX").arg(60_000);
                    ask(&mut connection, &set).await;
                    ask(&mut connection, form).await;
                    let found: Option<String> = redis::cmd("GET")
                        .arg(key.as_str())
                        .query_async(&mut connection)
                        .await
                        .expect("a string");
                    assert_eq!(found.as_deref(), Some(&*value), "{op:?} as {number}");
                    let left: i64 = redis::cmd("PTTL")
                        .arg(key.as_str())
                        .query_async(&mut connection)
                        .await
                        .expect("a number");
                    assert!((1..=60_000).contains(&left), "{op:?} as {number}: {left}");
                }
            }
        }
    }
}

fn mutex_of() -> LockKey {
    mutex_key(LockKind::Mutex, "ids", &unique_prefix()).expect("a valid name")
}
