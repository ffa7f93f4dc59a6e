//! dlock's side: `contender JUDGE-PORT REDIS-PORT,… KEY LEASE-MS SLOT careful|fenced`, as in the other languages.

use std::{net::Ipv4Addr, sync::Arc, time::Duration};

use dlock::Client;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::TcpStream,
    task::JoinSet,
    time::sleep,
};

use crate::{
    clock::Moment,
    lock::{Hold, Lock},
    reader::Reader,
};

/// One process.
struct Contender {
    name: String,
    key: String,
    lock: Lock,
    servers: Vec<Arc<Reader>>,
    judge: BufReader<TcpStream>,
}

/// Contends until the judge says that it is over.
pub(crate) async fn run(arguments: &[String]) {
    let [judge, redis, key, lease, slot, manner] = arguments else {
        panic!("contender JUDGE-PORT REDIS-PORT,… KEY LEASE-MS SLOT MANNER");
    };
    let name = format!("interop-{slot}-{}", std::process::id());
    let ports = redis.split(',').map(|port| port.parse().expect("a port"));
    let ports: Vec<u16> = ports.collect();
    let url = |port| format!("redis://127.0.0.1:{port}");
    let lease: u64 = lease.parse().expect("milliseconds");
    let client = match &ports[..] {
        [port] => Client::builder().url(url(port)),
        ports => Client::builder().quorum(ports.iter().map(url)),
    };
    let client = client
        .client_name(&name)
        .lease(Duration::from_millis(lease));
    let client = client.build().await.expect("the servers answer");
    let judge = TcpStream::connect((Ipv4Addr::LOCALHOST, judge.parse().expect("a port"))).await;
    let judge = judge.expect("the judge listens");
    judge.set_nodelay(true).expect("loopback takes that");
    let mut contender = Contender {
        name,
        key: key.clone(),
        lock: Lock::new(&client, key, manner == "fenced").expect("a valid name"),
        servers: ports.into_iter().map(Reader::new).map(Arc::new).collect(),
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
        let hold = self.lock.lock().await.expect("the lock is granted");
        let token = self.token().await;
        let fence = hold.fence().unwrap_or_default();
        let enter = format!("enter {token} {} {fence}", until(&hold));
        let plan = self.say(&enter).await;
        if plan.starts_with("late") {
            self.say(if hold.is_lost() {
                "stale refused"
            } else {
                "stale released"
            })
            .await;
        }
        let times = if plan.starts_with("extend") { 3 } else { 1 };
        for _ in 0..times {
            sleep(time(&plan)).await;
            if times > 1 && !hold.is_lost() {
                self.say(&format!("extended {}", until(&hold))).await;
            }
        }
        self.say("leave").await;
        let released = hold.release().await.is_ok();
        self.say(if released { "released" } else { "refused" })
            .await;
    }

    /// What the key has to say: the hold's id, of which the client's name is the beginning. Attempts that failed had others.
    async fn token(&self) -> String {
        let mut asked = JoinSet::new();
        for server in &self.servers {
            let (server, key) = (Arc::clone(server), self.key.clone());
            asked.spawn(async move { server.get(&key).await });
        }
        let mut told: Vec<String> = Vec::new();
        while let Some(answer) = asked.join_next().await {
            let Ok(Some(id)) = answer.expect("reading does not panic") else {
                continue;
            };
            if !id.starts_with(&self.name) {
                continue;
            }
            let others = told.iter().filter(|other| **other == id);
            // A frozen process need not be waited for.
            if 2 * (others.count() + 1) > self.servers.len() {
                return id;
            }
            told.push(id);
        }
        // One that granted it has failed since. Ids are numbered, and there was no attempt since then.
        let latest = told.into_iter().max_by_key(|id| (id.len(), id.clone()));
        latest.unwrap_or_else(|| self.name.clone())
    }
}

/// Until when the hold is certain; renewals move that.
fn until(hold: &Hold) -> Moment {
    Moment::now().after(hold.lease_left())
}

/// The number in `PLAN MICROSECONDS`.
fn time(answer: &str) -> Duration {
    let number = answer.split(' ').nth(1).and_then(|text| text.parse().ok());
    Duration::from_micros(number.expect("the judge says how long"))
}
