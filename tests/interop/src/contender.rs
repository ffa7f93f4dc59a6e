//! dlock's side: `contender JUDGE-PORT REDIS-PORT KEY LEASE-MS SLOT MANNER`, as in the other languages.

use std::{net::Ipv4Addr, time::Duration};

use dlock::{Client, Mutex, MutexGuard};
use redis::{AsyncTypedCommands as _, aio::MultiplexedConnection};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::TcpStream,
    time::sleep,
};

use crate::clock::Moment;

/// One process.
struct Contender {
    name: String,
    key: String,
    mutex: Mutex,
    redis: MultiplexedConnection,
    judge: BufReader<TcpStream>,
}

/// Contends until the judge says that it is over.
pub(crate) async fn run(arguments: &[String]) {
    let [judge, redis, key, lease, slot, _manner] = arguments else {
        panic!("contender JUDGE-PORT REDIS-PORT KEY LEASE-MS SLOT MANNER");
    };
    let name = format!("interop-{slot}-{}", std::process::id());
    let url = format!("redis://127.0.0.1:{redis}");
    let lease: u64 = lease.parse().expect("milliseconds");
    let client = Client::builder()
        .url(&url)
        .name(&name)
        .lease(Duration::from_millis(lease))
        .build();
    let client = client.await.expect("the server answers");
    let judge = TcpStream::connect((Ipv4Addr::LOCALHOST, judge.parse().expect("a port"))).await;
    let judge = judge.expect("the judge listens");
    judge.set_nodelay(true).expect("loopback takes that");
    let redis = redis::Client::open(url).expect("a valid URL");
    let redis = redis.get_multiplexed_async_connection().await;
    let mut contender = Contender {
        name,
        key: key.clone(),
        mutex: client.mutex(key).expect("a valid name"),
        redis: redis.expect("the server takes connections"),
        judge: BufReader::new(judge),
    };
    let hello = format!("hello {slot} {}", env!("CARGO_PKG_VERSION"));
    contender.say(&hello).await;
    while contender.say("ask").await == "ok" {
        contender.hold_once().await;
        let rest = contender.say("rest").await;
        sleep(time(&rest)).await;
    }
    client.shutdown().await.expect("all is given back");
}

impl Contender {
    async fn say(&mut self, words: &str) -> String {
        let line = format!("{words}\n");
        let told = self.judge.write_all(line.as_bytes()).await;
        told.expect("the judge listens");
        let mut answer = String::new();
        let read = self.judge.read_line(&mut answer).await;
        read.expect("the judge answers");
        answer.trim_end().to_owned()
    }

    async fn hold_once(&mut self) {
        let guard = self.mutex.lock().await.expect("the lock is granted");
        let token = self.token().await;
        let plan = self.say(&format!("enter {token} {}", until(&guard))).await;
        if plan.starts_with("late") {
            let lost = guard.check().is_err();
            self.say(if lost {
                "stale refused"
            } else {
                "stale released"
            })
            .await;
        }
        let times = if plan.starts_with("extend") { 3 } else { 1 };
        for _ in 0..times {
            sleep(time(&plan)).await;
            if times > 1 && guard.check().is_ok() {
                self.say(&format!("extended {}", until(&guard))).await;
            }
        }
        self.say("leave").await;
        let released = guard.release().await.is_ok();
        self.say(if released { "released" } else { "refused" })
            .await;
    }

    /// What the key has to say: the hold's id, of which the client's name is the beginning.
    async fn token(&mut self) -> String {
        let value = self.redis.get(&self.key).await.expect("the server answers");
        let own = value.filter(|value| value.starts_with(&self.name));
        own.unwrap_or_else(|| self.name.clone())
    }
}

/// Until when the hold is certain; renewals move that.
fn until(guard: &MutexGuard) -> Moment {
    Moment::now().after(guard.lease_left())
}

/// The number in `PLAN MICROSECONDS`.
fn time(answer: &str) -> Duration {
    let number = answer.split(' ').nth(1).and_then(|text| text.parse().ok());
    Duration::from_micros(number.expect("the judge says how long"))
}
