//! dlock's side: `contender JUDGE-PORT REDIS-PORT,… KEY LEASE-MS SLOT MANNER`, as in the other languages.

use std::{net::Ipv4Addr, time::Duration};

use clap::{Parser, ValueEnum};
use dlock::{Client, FencingToken, LockKind};
use dlock_load::{DlockGuard, Handle, Patience};
use futures_util::{StreamExt as _, stream::FuturesUnordered};
use tokio::{net::TcpStream, time::sleep};

use crate::{clock::Moment, reader::Reader, wire::Wire};

/// How a process uses its lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Manner {
    Careful,
    /// It asks for fencing tokens; only dlock has them.
    Fenced,
    /// It deletes the key instead of releasing the lock; only other libraries do that.
    Careless,
}

/// What the checker tells a process at its start.
#[derive(Debug, Parser)]
pub(crate) struct Terms {
    judge: u16,
    /// Ports, separated by commas.
    redis: String,
    key: String,
    lease_ms: u64,
    slot: usize,
    manner: Manner,
}

/// One process.
struct Contender {
    name: String,
    key: String,
    lock: Handle,
    servers: Vec<Reader>,
    judge: Wire,
}

/// Contends until the checker ends the run.
pub(crate) async fn run(terms: Terms) {
    let name = format!("interop-{}-{}", terms.slot, std::process::id());
    let ports = terms.redis.split(',').map(str::parse);
    let ports: Vec<u16> = ports.collect::<Result<_, _>>().expect("ports");
    let url = |port: &u16| format!("redis://127.0.0.1:{port}");
    let client = match &ports[..] {
        [port] => Client::builder().url(url(port)),
        ports => Client::builder().quorum(ports.iter().map(url)),
    };
    let client = client
        .client_name(&name)
        .lease(Duration::from_millis(terms.lease_ms));
    let client = client.build().await.expect("the servers answer");
    let kind = match terms.manner {
        Manner::Fenced => LockKind::FencedMutex,
        Manner::Careful | Manner::Careless => LockKind::Mutex,
    };
    let lock = Handle::new(&client, (kind, terms.key.clone()), None, None);
    let judge = TcpStream::connect((Ipv4Addr::LOCALHOST, terms.judge)).await;
    let mut contender = Contender {
        name,
        key: terms.key,
        lock: lock.expect("a valid name"),
        servers: ports.into_iter().map(Reader::new).collect(),
        judge: Wire::new(judge.expect("the checker listens")),
    };
    let hello = format!("hello {} {}", terms.slot, env!("CARGO_PKG_VERSION"));
    contender.say(&hello).await;
    while contender.say("ask").await == "ok" {
        contender.hold_once().await;
        let rest = contender.say("rest").await;
        sleep(time(&rest)).await;
    }
    client.shutdown().await.expect("all holds are released");
}

impl Contender {
    async fn say(&mut self, words: &str) -> String {
        self.judge.send(words).await.expect("the checker listens");
        self.judge.receive().await.expect("the checker answers")
    }

    async fn hold_once(&mut self) {
        let granted = self.lock.ask(true, Patience::Forever).await;
        let hold = granted.expect("no error").expect("it waits for the grant");
        let token = self.token().await;
        let fence = hold.fencing_token().map_or(0, FencingToken::as_u64);
        let enter = format!("enter {token} {} {fence}", until(&hold));
        let plan = self.say(&enter).await;
        if plan.starts_with("late") {
            self.say(match hold.check() {
                Ok(()) => "stale released",
                Err(_) => "stale refused",
            })
            .await;
        }
        let times = if plan.starts_with("extend") { 3 } else { 1 };
        for _ in 0..times {
            sleep(time(&plan)).await;
            if times > 1 && hold.check().is_ok() {
                self.say(&format!("extended {}", until(&hold))).await;
            }
        }
        self.say("leave").await;
        let released = hold.release().await.is_ok();
        self.say(if released { "released" } else { "refused" })
            .await;
    }

    /// The value of the key: the hold's id, which begins with the client's name. Failed attempts had other ids.
    async fn token(&self) -> String {
        let reads = self.servers.iter().map(|server| server.get(&self.key));
        let mut reads: FuturesUnordered<_> = reads.collect();
        let mut ids: Vec<String> = Vec::new();
        while let Some(read) = reads.next().await {
            let Ok(Some(id)) = read else { continue };
            if !id.starts_with(&self.name) {
                continue;
            }
            let same = ids.iter().filter(|other| **other == id).count() + 1;
            // A majority is enough: a frozen server would cost time.
            if 2 * same > self.servers.len() {
                return id;
            }
            ids.push(id);
        }
        // A server that granted the hold has failed since. Ids are numbered, and the latest attempt succeeded.
        let latest = ids.into_iter().max_by_key(|id| (id.len(), id.clone()));
        latest.unwrap_or_else(|| self.name.clone())
    }
}

/// Until when the hold is certain; renewals move that.
fn until(hold: &DlockGuard) -> Moment {
    Moment::now().after(hold.lease_left())
}

/// The number in `PLAN MICROSECONDS`.
fn time(answer: &str) -> Duration {
    let number = answer.split(' ').nth(1).and_then(|text| text.parse().ok());
    Duration::from_micros(number.expect("the checker says how long"))
}
