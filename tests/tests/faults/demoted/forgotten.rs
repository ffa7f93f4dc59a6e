//! What a server has forgotten.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use dlock::__internals::{Answer, ClientId, Endpoint, HoldId, Op, RedisStore, Stray, lock_key};
use dlock::LockMode;
use dlock_tests::{RedisServer, connect, scaled, unique_prefix, wait_until};
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};

const SOON: Duration = Duration::from_secs(20);

/// Takes the last token back that a write hold was given, as on a replica that had not heard of it; whether there was
/// one while there are no waiters.
const ROLL_BACK: &str = "
local all, t = redis.call('HGETALL', KEYS[1]), redis.call('HGET', KEYS[1], 't')
for i = 1, #all, 2 do
  if string.byte(all[i]) == 61 then
    redis.call('HSET', KEYS[1], 't', string.format('%d', t - 700))
    return 1
  end
end
return 0";

/// Its hold is none that the server would take a yield of: what it is told must not keep it there.
#[tokio::test(flavor = "multi_thread")]
async fn a_process_whose_last_yield_was_lost_lets_others_in() {
    let server = RedisServer::start().await;
    let prefix = unique_prefix();
    let (busy, other) = (
        connect(&server.url(), &prefix).await,
        connect(&server.url(), &prefix).await,
    );
    let lock = |client: &dlock::Client| client.rw_lock("one").expect("a valid name");
    let stop = Arc::new(AtomicBool::new(false));
    let mut tasks = JoinSet::new();
    for _ in 0..4 {
        let (lock, stop) = (lock(&busy), Arc::clone(&stop));
        tasks.spawn(async move {
            while !stop.load(Ordering::Relaxed) {
                let guard = lock.write().await.expect("the lock comes round");
                tokio::task::yield_now().await;
                // Lost, if it was given back because of what the server has forgotten.
                let _ = guard.release().await;
            }
        });
    }
    let key = lock_key(&prefix, "one").expect("a valid name");
    wait_until(SOON, "a token is taken back", || async {
        server
            .query::<i64>(&["EVAL", ROLL_BACK, "1", key.as_str()])
            .await
            == 1
    })
    .await;
    let guard = timeout(scaled(SOON), lock(&other).write()).await;
    guard
        .expect("in time")
        .expect("granted")
        .release()
        .await
        .expect("held to the end");
    stop.store(true, Ordering::Relaxed);
    tasks.join_all().await;
}

/// An acquire that was given up may arrive for as long as it is valid: a shorter lease that another client has
/// meanwhile must not let the server forget that it was.
#[tokio::test]
async fn what_was_given_up_stays_so_although_a_shorter_lease_came_between() {
    let server = RedisServer::start().await;
    let Ok(Endpoint::Redis(mut options)) = Endpoint::parse(&server.url()) else {
        panic!("an address of Redis")
    };
    let patience = Duration::from_secs(40);
    options.prefix = unique_prefix();
    options.response_timeout = patience;
    let (prefix, client) = (options.prefix.clone(), ClientId::new("test"));
    let within = || Instant::now() + SOON;
    let store = RedisStore::connect(*options, &client, within())
        .await
        .expect("the server is up");
    let key = lock_key(&prefix, "one").expect("a valid name");
    let counter = std::sync::atomic::AtomicU64::new(1);
    let [given_up, short] = [(); 2].map(|()| HoldId::next(&client, &counter));
    let lease = Duration::from_millis(300);
    let call =
        async |op: Op| -> Answer { store.call(&key, &op, within()).await.expect("answered") };

    call(Op::Abandon {
        hold: given_up,
        stray: Stray::Possible,
    })
    .await;
    call(Op::Acquire {
        hold: short.clone(),
        mode: LockMode::Write,
        lease,
        owner: None,
        place: None,
    })
    .await;
    call(Op::Release {
        hold: short,
        lease,
        stray: Stray::None,
        spent: None,
    })
    .await;
    let left: u64 = server.query(&["PTTL", key.as_str()]).await;
    assert!(
        Duration::from_millis(left) > patience.saturating_sub(Duration::from_secs(1)),
        "{left} ms"
    );
}
