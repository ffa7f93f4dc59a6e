//! The scripts do what the specification says: the memory store and the Lua scripts carry out the
//! same random operations at the same times, and every reply, every message and every record is compared.
//!
//! `DLOCK_SPEC_OPERATIONS` asks for more operations, in each test; `DLOCK_REDIS_SERVER` for another server.

mod apart;
mod compare;
mod draw;
mod foreign;
mod pair;
mod plan;
mod records;
mod request;
mod run;
mod specify;

use std::cell::Cell;
use std::io::Write as _;
use std::time::Instant;

use dlock_tests::{RedisServer, Stage, shared_cluster, shared_server, slot_of, unique_prefix};
use tokio::runtime::Runtime;

use self::plan::{Family, Plan};
use self::run::Run;

/// How many operations each of the two tests carries out at least.
const OPERATIONS: u64 = 60_000;

#[test]
fn scripts_agree_with_the_specification_on_one_server() {
    on_one_server(Family::Rw);
}

#[test]
fn scripts_agree_with_the_specification_on_a_cluster() {
    on_a_cluster(Family::Rw);
}

#[test]
fn scripts_of_mutexes_agree_with_the_specification_on_one_server() {
    on_one_server(Family::Mutex);
}

#[test]
fn scripts_of_mutexes_agree_with_the_specification_on_a_cluster() {
    on_a_cluster(Family::Mutex);
}

fn on_one_server(of: Family) {
    let server = Runtime::new().expect("a runtime").block_on(shared_server());
    let stage = Stage::on(server);
    compare(of, "one server", |number| {
        (format!("lock-{number}"), &stage)
    });
}

fn on_a_cluster(of: Family) {
    let masters = Runtime::new().expect("a runtime").block_on(async {
        let cluster = shared_cluster().await;
        let mut masters: Vec<(String, &RedisServer)> = Vec::new();
        for number in cluster.masters().await {
            let mut tag = 0;
            while cluster.master_of(slot_of(&format!("tag-{tag}"))).await != number {
                tag += 1;
            }
            masters.push((format!("tag-{tag}"), cluster.node(number)));
        }
        masters
    });
    let masters: Vec<(String, Stage)> = masters
        .into_iter()
        .map(|(tag, server)| (tag, Stage::on(server)))
        .collect();
    compare(of, "the masters of a cluster", |number| {
        let (tag, stage) = &masters[number % masters.len()];
        (format!("{{{tag}}}:lock-{number}"), stage)
    });
}

/// Compares many sequences, each on a lock of its own; `place` names it and says where it lives.
fn compare<'a>(of: Family, where_: &str, place: impl Fn(usize) -> (String, &'a Stage)) {
    let prefix = unique_prefix();
    let wanted = number_from("DLOCK_SPEC_OPERATIONS").unwrap_or(OPERATIONS);
    let first_seed = number_from("DLOCK_SPEC_SEED").unwrap_or_else(|| fastrand::u64(..));
    let (start, number, mut operations) = (Instant::now(), Cell::new(0), 0);
    let run = |plan: &Plan| {
        let (name, stage) = place(number.replace(number.get() + 1));
        Run::of(plan, stage, &prefix, &name)
    };
    let mut seed = first_seed;
    while operations < wanted {
        let plan = draw::plan(of, seed);
        let (ran, result) = run(&plan);
        operations += ran;
        if let Err(difference) = result {
            let shortest = shorten(plan, difference, |plan| run(plan).1.err());
            panic!("DLOCK_SPEC_SEED={seed}\n{shortest}");
        }
        seed = seed.wrapping_add(1);
    }
    // Not captured: how much was tried belongs to the result.
    let _ = writeln!(
        std::io::stderr(),
        "{operations} operations ({of:?}) on {where_}, {:.1} s, from seed {first_seed}: no difference",
        start.elapsed().as_secs_f64()
    );
}

fn number_from(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().expect("a number"))
}

/// Leaves out steps as long as there is still a difference; the last one seen.
fn shorten(
    mut plan: Plan,
    mut difference: String,
    differs: impl Fn(&Plan) -> Option<String>,
) -> String {
    let mut size = plan.steps.len();
    while size > 0 {
        let (mut at, mut shortened) = (0, false);
        while at < plan.steps.len() {
            let mut shorter = plan.clone();
            shorter.steps.drain(at..plan.steps.len().min(at + size));
            if let Some(other) = differs(&shorter) {
                (plan, difference, shortened) = (shorter, other, true);
            } else {
                at += size;
            }
        }
        if !shortened || size > 1 {
            size /= 2;
        }
    }
    difference
}
