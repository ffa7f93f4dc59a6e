//! Programs that may publish on a lock's channel, or write to its key by mistake: what that must not do.

use std::time::Duration;

use dlock::__internals::ServerToken;
use dlock::{ErrorKind, RwLock, WriteGuard};
use dlock_tests::{
    Direction, FaultProxy, RedisServer, SOON, ServerOptions, builder, connect, its_turn,
    publish_command, queue, scaled, shared_server, unique_prefix, wait_free, wait_listening,
    wait_waiters,
};

const LEASE: Duration = Duration::from_secs(1);
const HOUR_US: u64 = 3_600_000_000;

#[tokio::test]
async fn a_waiter_believes_no_stranger() {
    let server = RedisServer::start().await;
    let (one, two) = (
        connect(&server.url(), "dlock").await,
        connect(&server.url(), "dlock").await,
    );
    let lock = one.rw_lock("one").expect("a valid name");
    let guard = lock.write().await.expect("free");
    let mut waiting = queue(&two.rw_lock("one").expect("a valid name"));
    wait_waiters(&lock, 1).await;
    let names = wait_listening(&server, "", 1).await;
    let waiter = lock.inspect().await.expect("answered").waiters[0]
        .id
        .clone();
    let last = named(&guard);
    let mut forged = vec![waiter.clone()];
    for token in [
        last,
        last + 1,
        last + 1_000_000,
        last + HOUR_US,
        1 << 53,
        u64::MAX,
    ] {
        forged.push(format!("{waiter} {token}"));
        for nonce in ["-", "0", "1", "ffffffff", ""] {
            forged.push(format!("{waiter} {token} {nonce}"));
            forged.push(format!("{waiter} {nonce} {token}"));
        }
        forged.push(format!("{token}"));
        forged.push(format!("{token} {waiter}"));
    }
    for name in &names {
        for message in &forged {
            let heard: u64 = server.query(&[publish_command(), name, message]).await;
            assert_eq!(heard, 1, "the waiter listens");
        }
    }
    let window = Duration::from_millis(200);
    let believed = tokio::time::timeout(window, &mut waiting).await;
    assert!(believed.is_err(), "two writers: {believed:?}");
    guard.check().expect("held all the time");
    assert_eq!(lock.inspect().await.expect("answered").waiters.len(), 1);

    // And the forgeries have not spoilt what is true.
    guard.release().await.expect("held to the end");
    let guard = its_turn(waiting).await;
    let token = named(&guard);
    assert!(
        token > last && token < last + HOUR_US / 2,
        "{token} after {last}"
    );
    guard.release().await.expect("held to the end");
    let state = lock.inspect().await.expect("answered");
    let behind = |last| ServerToken::behind(last).as_u64();
    assert!(state.last_token.is_none_or(|last| behind(last) <= token));
}

/// What the server named when it granted this.
fn named(guard: &WriteGuard) -> u64 {
    ServerToken::behind(guard.fencing_token()).as_u64()
}

/// A lock, how to spoil its last token, and a holder that can be cut off.
struct Spoilt {
    lock: RwLock,
    proxy: FaultProxy,
    holder: RwLock,
}

impl Spoilt {
    async fn new() -> Self {
        let server = shared_server().await;
        let proxy = FaultProxy::start(server.addr());
        let prefix = unique_prefix();
        let lock = connect(&server.url(), &prefix).await;
        let holder = builder(&proxy.url(), &prefix).lease(LEASE).build().await;
        let holder = holder.expect("the server is up");
        Self {
            lock: lock.rw_lock("one").expect("a valid name"),
            holder: holder.rw_lock("one").expect("a valid name"),
            proxy,
        }
    }

    /// As a server whose clock was ahead has left it; all that the tests here know of the record.
    async fn set_last_token(&self, token: u64) {
        let (key, token) = (self.lock.key().as_str(), token.to_string());
        let server = shared_server().await;
        server.query::<()>(&["HSET", key, "t", &token]).await;
    }

    async fn write(&self) -> WriteGuard {
        let waited = std::time::Instant::now();
        let guard = self.lock.write_timeout(scaled(SOON)).await;
        let guard = guard.expect("a crashed holder's lease ends");
        let waited = waited.elapsed();
        assert!(waited < LEASE + scaled(LEASE), "after {waited:?}");
        guard
    }
}

#[tokio::test]
async fn a_token_far_ahead_does_not_end_a_hold() {
    let spoilt = Spoilt::new().await;
    let guard = spoilt.holder.write().await.expect("free");
    let ahead = named(&guard) + HOUR_US;
    spoilt.set_last_token(ahead).await;
    let other = spoilt.lock.try_write().await.expect("answered");
    guard.check().expect("its lease goes on");
    assert!(other.is_none(), "two writers: {other:?}");
    spoilt.proxy.blackhole(Direction::Both);
    let next = spoilt.write().await;
    assert!(named(&next) > ahead, "tokens go on");
    next.release().await.expect("held to the end");
}

#[tokio::test]
async fn a_token_far_ahead_does_not_keep_a_crashed_hold() {
    let spoilt = Spoilt::new().await;
    let guard = spoilt.holder.write().await.expect("free");
    let ahead = named(&guard) + HOUR_US;
    guard.release().await.expect("held to the end");
    spoilt.set_last_token(ahead).await;
    let guard = spoilt.holder.write().await.expect("free");
    let token = named(&guard);
    assert!(token > ahead, "tokens go on");
    spoilt.proxy.blackhole(Direction::Both);
    let next = spoilt.write().await;
    assert!(named(&next) > token, "tokens go on");
    next.release().await.expect("held to the end");
    wait_free(&spoilt.lock).await;
}

/// From there on, numbers of Lua are no longer whole, and tokens would repeat.
#[tokio::test]
async fn a_token_that_cannot_grow_is_an_error() {
    for token in [1 << 53, (1 << 53) + 2, i64::MAX.cast_unsigned()] {
        let spoilt = Spoilt::new().await;
        spoilt.set_last_token(token).await;
        for outcome in [
            spoilt.lock.try_write().await.map(|guard| guard.map(drop)),
            spoilt.lock.try_read().await.map(|guard| guard.map(drop)),
        ] {
            let error = outcome.expect_err("no token is larger");
            assert_ne!(error.kind(), ErrorKind::Unavailable, "{error}");
        }
    }
}

#[tokio::test]
async fn who_may_not_expire_keys_leaves_none_that_stays() {
    let rules = "on >secret ~* &* +@all -pexpire -pexpireat -expire -expireat";
    let server = RedisServer::start_with(&ServerOptions::new().user("app", rules)).await;
    let url = format!("redis://app:secret@127.0.0.1:{}", server.port());
    let refused = match builder(&url, "dlock").build().await {
        Err(error) => error,
        Ok(client) => {
            let lock = client.rw_lock("one").expect("a valid name");
            let acquired = lock.write().await;
            acquired.map(drop).expect_err("a right is missing")
        }
    };
    assert_eq!(refused.kind(), ErrorKind::Unauthorized, "{refused}");
    let keys: Vec<String> = server.query(&["KEYS", "*"]).await;
    for key in keys {
        let left: i64 = server.query(&["PTTL", &key]).await;
        assert_ne!(left, -1, "{key} stays for ever");
    }
}
