//! What happens to servers, and what operators do.

use std::time::Duration;

use dlock_tests::now_ns;
use tokio::time::sleep;

use super::{Stage, members, slots, takeover};
use crate::plan::{Fault, key_of};

/// Whether it could be done. Afterwards all is well again, as far as it can be.
pub(super) async fn happens(stage: Stage<'_>, fault: &Fault) -> bool {
    let done = begins(stage, fault).await;
    if !stage.site.heals().await {
        stage
            .facts
            .trouble(format_args!("servers did not heal after {fault:?}"));
        stage.site.mend(stage.facts, 0).await;
    }
    done
}

async fn begins(stage: Stage<'_>, fault: &Fault) -> bool {
    match *fault {
        Fault::Failover { node, dies, wakes } => takeover::failover(stage, node, dies, wakes).await,
        Fault::HandOver { node } => takeover::hand_over(stage, node).await,
        Fault::Migrate {
            lock,
            to,
            steps,
            call_off,
        } => slots::migrate(stage, lock, to, steps, call_off).await,
        Fault::Evict { lock } => evict(stage, lock).await,
        Fault::Down { who, fall, lasts } => {
            members::down(stage, who, fall, lasts).await;
            true
        }
        Fault::Restart { node, .. }
        | Fault::Sleep { node, .. }
        | Fault::Full { node, .. }
        | Fault::NoReplicas { node, .. }
        | Fault::FlushAll { node }
        | Fault::ScriptFlush { node }
        | Fault::KillConnections { node, .. } => {
            let shard = node % stage.site.shards();
            match stage.site.master_of(shard).await {
                Some(master) => to_master(stage, fault, shard, master).await,
                None => false,
            }
        }
        _ => false,
    }
}

/// What happens to the master of a shard.
async fn to_master(stage: Stage<'_>, fault: &Fault, shard: usize, master: usize) -> bool {
    let site = stage.site;
    let server = site.node(master);
    let from = now_ns();
    match *fault {
        Fault::Restart {
            with_data, after, ..
        } => {
            if with_data {
                server.kill();
            } else {
                server.kill_and_forget();
            }
            sleep(after).await;
            server.relaunch();
            if !with_data {
                stage
                    .facts
                    .lost("restart without data", site.homes.at(shard), from);
            }
            true
        }
        Fault::Sleep { lasts, .. } => {
            server.pause();
            sleep(lasts).await;
            server.resume();
            true
        }
        Fault::Full { lasts, .. } => set_for(stage, master, "maxmemory", ["1", "0"], lasts).await,
        Fault::NoReplicas { lasts, .. } => {
            set_for(stage, master, "min-replicas-to-write", ["7", "0"], lasts).await
        }
        Fault::FlushAll { .. } => {
            let done = server.command(&["FLUSHALL"]).await.is_ok();
            stage.facts.lost("FLUSHALL", site.homes.at(shard), from);
            done
        }
        Fault::ScriptFlush { .. } => server.command(&["SCRIPT", "FLUSH"]).await.is_ok(),
        Fault::KillConnections { subscribers, .. } => {
            let kind = if subscribers { "pubsub" } else { "normal" };
            let command = ["CLIENT", "KILL", "TYPE", kind, "SKIPME", "yes"];
            server.command(&command).await.is_ok()
        }
        _ => false,
    }
}

/// Changes a setting for a while.
async fn set_for(
    stage: Stage<'_>,
    node: usize,
    name: &str,
    values: [&str; 2],
    lasts: Duration,
) -> bool {
    let server = stage.site.node(node);
    let done = server
        .command(&["CONFIG", "SET", name, values[0]])
        .await
        .is_ok();
    sleep(lasts).await;
    for _ in 0..20 {
        if server
            .command(&["CONFIG", "SET", name, values[1]])
            .await
            .is_ok()
        {
            return done;
        }
        sleep(Duration::from_millis(100)).await;
    }
    stage
        .facts
        .trouble(format_args!("server {node} keeps its {name}"));
    done
}

async fn evict(stage: Stage<'_>, lock: usize) -> bool {
    let (_, shard) = stage.site.homes.of(lock);
    let Some(master) = stage.site.master_of(shard).await else {
        return false;
    };
    let from = now_ns();
    let removed = stage
        .site
        .node(master)
        .command(&["DEL", &key_of(lock)])
        .await;
    stage.facts.lost("eviction", vec![lock], from);
    removed == Ok(redis::Value::Int(1))
}
