//! Many operations at once.

use std::time::Duration;

use dlock::__internals::{HoldId, Op, RedisNodeId, Reply};
use dlock::LockKey;
use dlock_tests::{RedisCluster, RedisServer, slot_of};
use tokio::time::Instant;

use crate::redis_store::rig::{Rig, renew, within};

/// Locks of one node, held.
async fn held(rig: &Rig, count: usize) -> (RedisNodeId, Vec<(LockKey, HoldId)>) {
    let first = rig.key("0");
    let node = rig.store.node_of(first.slot());
    let mut held = Vec::new();
    let mut n = 0;
    while held.len() < count {
        let key = rig.key(&n.to_string());
        n += 1;
        if rig.store.node_of(key.slot()) == node {
            let grabbed = rig.grab(&key).await.0;
            held.push((key, grabbed));
        }
    }
    (node, held)
}

fn renewals(held: &[(LockKey, HoldId)]) -> Vec<(LockKey, Op)> {
    held.iter()
        .map(|(key, hold)| (key.clone(), renew(hold)))
        .collect()
}

#[tokio::test]
async fn a_batch_is_one_pipeline_with_an_answer_each() {
    let server = RedisServer::start().await;
    let rig = Rig::connect(&server.url()).await;
    let (node, held) = held(&rig, 500).await;
    let mut batch = renewals(&held);
    batch[7].1 = renew(&rig.hold());
    server
        .query::<()>(&["SET", rig.key("foreign").as_str(), "1"])
        .await;
    batch.push((rig.key("foreign"), renew(&rig.hold())));
    let answers = rig.call_batch(node, &batch, within(5000)).await;
    assert_eq!(answers.len(), 501);
    for (index, answer) in answers.iter().enumerate() {
        match (index, answer) {
            (7, Ok(answer)) => assert_eq!(answer.reply, Reply::Gone),
            (500, Err(error)) => assert_eq!(error.kind(), dlock::ErrorKind::ForeignKey),
            (_, Ok(answer)) => assert_eq!(answer.reply, Reply::Done),
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn strays_of_a_batch_find_their_way() {
    let cluster = RedisCluster::start().await;
    let rig = Rig::connect(&cluster.url()).await;
    let (node, held) = held(&rig, 100).await;
    let batch = renewals(&held);
    let all_renewed = |answers: Vec<Result<dlock::__internals::Answer, dlock::Error>>| {
        assert_eq!(answers.len(), 100);
        for answer in answers {
            assert_eq!(answer.expect("renewed").reply, Reply::Done);
        }
    };
    cluster.script_flush_all().await;
    all_renewed(rig.call_batch(node, &batch, within(5000)).await);

    let slot = slot_of(held[3].0.as_str());
    let from = cluster.master_of(slot).await;
    cluster.migrate_slot(slot, (from + 1) % 3).await;
    all_renewed(rig.call_batch(node, &batch, within(5000)).await);
    assert!(rig.store.stats().moved.get() > 0);

    // The whole node is gone from the topology; the batch is sent under its old name.
    cluster.failover(slot_of(held[4].0.as_str())).await;
    let (key, fifth) = &held[4];
    rig.call(key, &renew(fifth)).await.expect("followed");
    all_renewed(rig.call_batch(node, &batch, within(5000)).await);
}

#[tokio::test]
async fn without_an_answer_every_outcome_is_unknown() {
    let server = RedisServer::start().await;
    let rig = Rig::connect(&server.url()).await;
    let (node, held) = held(&rig, 20).await;
    let batch = renewals(&held);
    server.pause();
    let started = Instant::now();
    for answer in rig.call_batch(node, &batch, within(300)).await {
        let error = answer.expect_err("the server is paused");
        assert!(error.is_timeout() || error.is_unavailable(), "{error:?}");
    }
    assert!(started.elapsed() < Duration::from_millis(600));
    server.resume();
    server.kill();
    for answer in rig.call_batch(node, &batch, within(300)).await {
        let error = answer.expect_err("the server is dead");
        assert!(error.is_timeout() || error.is_unavailable(), "{error:?}");
    }
}
