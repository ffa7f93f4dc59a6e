//! A store under test.

use std::sync::atomic::AtomicU64;
use std::time::Duration;

use dlock::__internals::{
    Answer, ClientId, Endpoint, Extent, HoldId, Nonce, Op, PlaceTerms, RedisListening, RedisNodeId,
    RedisOptions, RedisStore, Reply, ServerToken, Stray, lock_key,
};
use dlock::{Error, LockKey, LockMode};
use dlock_tests::{slot_of, unique_prefix};
use tokio::time::Instant;

/// How long a lease of these tests lasts.
pub(crate) const LEASE: Duration = Duration::from_secs(60);

/// A store, with the ids and keys to use it.
pub(crate) struct Rig {
    pub(crate) store: RedisStore,
    prefix: String,
    client: ClientId,
    counter: AtomicU64,
}

impl Rig {
    pub(crate) async fn connect(url: &str) -> Self {
        Self::connect_with(options(url)).await
    }

    pub(crate) async fn connect_with(options: RedisOptions) -> Self {
        let client = ClientId::new("test");
        let prefix = options.prefix.clone();
        let store = RedisStore::connect(options, &client, within(10_000));
        Self {
            store: store.await.expect("the servers are up"),
            prefix,
            client,
            counter: AtomicU64::new(1),
        }
    }

    /// All answers, in the order of the batch.
    pub(crate) async fn call_batch(
        &self,
        node: RedisNodeId,
        batch: &[(LockKey, Op)],
        deadline: Instant,
    ) -> Vec<Result<Answer, Error>> {
        let mut answers: Vec<_> = batch.iter().map(|_| None).collect();
        let tell = |index: usize, answer| assert!(answers[index].replace(answer).is_none());
        self.store.call_batch(node, batch, deadline, tell).await;
        let answers = answers.into_iter();
        answers.map(|answer| answer.expect("one each")).collect()
    }

    pub(crate) fn key(&self, name: &str) -> LockKey {
        lock_key(&self.prefix, name).expect("a good name")
    }

    /// A key of a slot that this node serves, as the slots of a new cluster are spread evenly.
    pub(crate) fn key_in(&self, slots: impl Fn(u16) -> bool) -> LockKey {
        (0..1_000_000)
            .map(|n| self.key(&format!("k{n}")))
            .find(|key| slots(slot_of(key.as_str())))
            .expect("there is one")
    }

    pub(crate) fn hold(&self) -> HoldId {
        HoldId::next(&self.client, &self.counter)
    }

    pub(crate) async fn call(&self, key: &LockKey, op: &Op) -> Result<Answer, Error> {
        self.store.call(key, op, within(15_000)).await
    }

    /// Acquires the write lock and says with which hold and token.
    pub(crate) async fn grab(&self, key: &LockKey) -> (HoldId, ServerToken) {
        let hold = self.hold();
        let answer = self.call(key, &write(&hold)).await.expect("acquired");
        match answer.reply {
            Reply::Granted(token) => (hold, token),
            other => panic!("{key}: {other:?}"),
        }
    }

    pub(crate) async fn free(&self, key: &LockKey, hold: &HoldId) -> Result<Answer, Error> {
        self.call(key, &release(hold)).await
    }

    pub(crate) async fn listen(&self, key: &LockKey, hold: &HoldId) -> RedisListening {
        self.store.listen(key, hold, within(2_000)).await
    }
}

/// `url` with a prefix of its own.
pub(crate) fn options(url: &str) -> RedisOptions {
    match Endpoint::parse(url) {
        Ok(Endpoint::Redis(mut options)) => {
            options.prefix = unique_prefix();
            *options
        }
        other => panic!("{other:?}"),
    }
}

pub(crate) fn within(millis: u64) -> Instant {
    Instant::now() + Duration::from_millis(millis)
}

pub(crate) fn write(hold: &HoldId) -> Op {
    Op::Acquire {
        hold: hold.clone(),
        mode: LockMode::Write,
        lease: LEASE,
        owner: None,
        place: None,
    }
}

/// Acquire, or wait in line for ten seconds.
pub(crate) fn queue(hold: &HoldId, mode: LockMode) -> Op {
    Op::Acquire {
        hold: hold.clone(),
        mode,
        lease: LEASE,
        owner: None,
        place: Some(PlaceTerms {
            lease: Duration::from_secs(10),
            subscribed: true,
            nonce: Nonce::of(hold),
        }),
    }
}

pub(crate) fn release(hold: &HoldId) -> Op {
    Op::Release {
        hold: hold.clone(),
        lease: LEASE,
        stray: Stray::None,
        spent: None,
    }
}

pub(crate) fn renew(hold: &HoldId) -> Op {
    Op::Renew {
        hold: hold.clone(),
        lease: LEASE,
        extent: Extent::Longer,
    }
}
