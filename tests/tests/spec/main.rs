//! The scripts do what the specification says: the memory store and the Lua scripts carry out the
//! same random operations at the same times, and every reply and every wake-up is compared.

mod lua;
mod plan;
mod run;

use std::cell::Cell;

use dlock_tests::{RedisServer, shared_cluster, shared_server, slot_of, unique_prefix};
use proptest::test_runner::{Config, TestCaseError, TestError, TestRunner};
use tokio::runtime::Runtime;

use self::lua::Lua;
use self::plan::plan;
use self::run::Run;

/// At least; `PROPTEST_CASES` asks for more.
const SEQUENCES: u32 = 600;

#[test]
fn scripts_agree_with_the_specification_on_one_server() {
    let server = Runtime::new().expect("a runtime").block_on(shared_server());
    let lua = Lua::on(server);
    compare(|number| (format!("lock-{number}"), &lua));
}

#[test]
fn scripts_agree_with_the_specification_on_a_cluster() {
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
    let masters: Vec<(String, Lua)> = masters
        .into_iter()
        .map(|(tag, server)| (tag, Lua::on(server)))
        .collect();
    compare(|number| {
        let (tag, lua) = &masters[number % masters.len()];
        (format!("{{{tag}}}:lock-{number}"), lua)
    });
}

/// Compares many sequences, each on a lock of its own; `place` names it and says where it lives.
fn compare<'a>(place: impl Fn(usize) -> (String, &'a Lua)) {
    let prefix = unique_prefix();
    let number = Cell::new(0);
    let config = Config::default();
    let mut runner = TestRunner::new(Config {
        cases: config.cases.max(SEQUENCES),
        failure_persistence: None,
        ..config
    });
    let outcome = runner.run(&plan(), |plan| {
        let (name, lua) = place(number.replace(number.get() + 1));
        let run = Run::of(&plan, &prefix, &name);
        lua.find_difference(&run)
            .and_then(|()| lua.find_inconsistency(&run))
            .map_err(TestCaseError::fail)
    });
    match outcome {
        Ok(()) => {}
        Err(TestError::Fail(difference, plan)) => {
            panic!("{difference}\n\nthe shortest sequence found: {plan:#?}")
        }
        Err(TestError::Abort(why)) => panic!("{why}"),
    }
}
