//! What the server spends on dlock's scripts, and what each of their commands adds.

use redis::{AsyncConnectionConfig, Script, aio::MultiplexedConnection};

use super::{LEASE, Lab};
use crate::{
    results::Results,
    server::Site,
    system::{Kind, connection, evalsha},
};

const RUNS: usize = 20_000;
const BATCH: usize = 200;

/// The commands of an uncontended acquire.
const STEPS: [(&str, &str); 6] = [
    ("acquire: nothing", ""),
    ("+ HLEN", "redis.call('HLEN', KEYS[1]) "),
    ("+ HGET", "redis.call('HGET', KEYS[1], 't') "),
    ("+ TIME", "redis.call('TIME') "),
    (
        "+ HSET",
        "redis.call('HSET', KEYS[1], 't', '1700000000000000', '=host:1/0123456789abcdef/1', 'w 30000000 ') ",
    ),
    ("+ PEXPIRE", "redis.call('PEXPIRE', KEYS[1], 31001) "),
];

pub(super) async fn run(lab: &Lab, results: &mut Results) {
    let site = &lab.standalone;
    let url = site.setup(LEASE).url;
    let mut connection = connection(&url, AsyncConnectionConfig::new()).await;
    for _ in 0..lab.repeats {
        let mut code = String::new();
        for (step, call) in STEPS {
            code.push_str(call);
            let script = format!("{code}return 1700000000000000");
            let usec = time(site, &mut connection, &script).await;
            results.add("calls", step, "command so far", "us", usec);
        }
        let usec = release(site, &mut connection).await;
        results.add("calls", "release: HDEL", "command so far", "us", usec);
        site.flush().await;
    }
}

/// What the server says the command of an uncontended release takes.
async fn release(site: &Site, connection: &mut MultiplexedConnection) -> f64 {
    let before = site.commands().await;
    for _ in 0..RUNS / BATCH {
        let mut pipeline = redis::pipe();
        for n in 0..BATCH {
            let (key, hold) = (Kind::Dlock.key("calls", n), "=host:1/0123456789abcdef/1");
            pipeline.hset(&key, hold, "w 30000000 ").ignore();
            pipeline.hdel(&key, hold).ignore();
        }
        let run = pipeline.exec_async(connection).await;
        run.expect("the server takes the commands");
    }
    let spent = site.commands().await.since(&before);
    spent.usec_per_call("hdel")
}

/// What the server says one run of the script takes.
async fn time(site: &Site, connection: &mut MultiplexedConnection, code: &str) -> f64 {
    let script = Script::new(code);
    let loaded = script.load_async(connection).await;
    loaded.expect("the server takes the script");
    let mut before = site.commands().await;
    // The first batch warms up.
    for batch in 0..=RUNS / BATCH {
        if batch == 1 {
            before = site.commands().await;
        }
        let mut pipeline = redis::pipe();
        for n in 0..BATCH {
            let run = evalsha(&script, &Kind::Dlock.key("calls", n));
            pipeline.add_command(run).ignore();
        }
        let run = pipeline.exec_async(connection).await;
        run.expect("the script runs");
    }
    let spent = site.commands().await.since(&before);
    spent.usec_per_call("evalsha")
}
