//! A process that uses locks, for tests that start, freeze and kill it.
//!
//! `worker <mode> url=… prefix=… [key=value …]`:
//!
//! - `loop`: reads and writes at random for a while, and writes a journal (`lock`, `log`, `seconds`, `reads` in
//!   percent, `hold_ms` at most, `lease_ms`, `tasks`); prints `done <holds> <lost>`
//! - `read`, `write`: holds `lock` until killed; prints `holding <token>`, and when it is lost, `lost` and what its
//!   release answered
//! - `annotated`: holds `lock` through the attribute and appends ticks to `ticks`; prints how that ended

use std::{
    collections::HashMap,
    fs::OpenOptions,
    future::pending,
    io::Write,
    path::Path,
    process::ExitCode,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use dlock::{Client, Error, FencingToken, LockKind, RwLock, distributed_lock};
use dlock_load::{Handle, Patience};
use dlock_tests::history::{Belief, Journal};
use tokio::{
    task::JoinSet,
    time::{Instant, sleep},
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let mode = arguments.next().unwrap_or_default();
    let settings = Settings::parse(arguments);
    let outcome = match mode.as_str() {
        "loop" => random_load(&settings).await,
        "read" => hold_reading(&settings).await,
        "write" => hold_writing(&settings).await,
        "annotated" => annotated(&settings).await,
        other => panic!("unknown mode: {other:?}"),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("error: {error:?}");
            ExitCode::FAILURE
        }
    }
}

/// The `key=value` arguments.
struct Settings(HashMap<String, String>);

impl Settings {
    fn parse(arguments: impl Iterator<Item = String>) -> Self {
        let pair = |argument: String| {
            let (key, value) = argument.split_once('=').expect("arguments are key=value");
            (key.to_owned(), value.to_owned())
        };
        Self(arguments.map(pair).collect())
    }

    fn text(&self, key: &str) -> &str {
        let value = self.0.get(key);
        value.unwrap_or_else(|| panic!("no {key}=… was given"))
    }

    fn number(&self, key: &str) -> u64 {
        self.text(key).parse().expect("a number")
    }

    async fn lock(&self) -> Result<RwLock, Error> {
        let client = self.client().await?;
        client.rw_lock(self.text("lock"))
    }

    async fn client(&self) -> Result<Client, Error> {
        let lease = Duration::from_millis(self.number("lease_ms"));
        let client = dlock_tests::builder(self.text("url"), self.text("prefix"));
        client.lease(lease).build().await
    }
}

/// What all tasks of the random load share.
struct Load {
    lock: Handle,
    journal: Journal,
    reads: u64,
    hold_us: u64,
    end: Instant,
    held: AtomicU64,
    lost: AtomicU64,
}

async fn random_load(settings: &Settings) -> Result<(), Error> {
    let client = settings.client().await?;
    let lock = (LockKind::Rw, settings.text("lock").to_owned());
    let load = Arc::new(Load {
        lock: Handle::new(&client, lock, None, None)?,
        journal: Journal::create(Path::new(settings.text("log"))),
        reads: settings.number("reads"),
        hold_us: 1000 * settings.number("hold_ms"),
        end: Instant::now() + Duration::from_secs(settings.number("seconds")),
        held: AtomicU64::new(0),
        lost: AtomicU64::new(0),
    });
    let mut tasks = JoinSet::new();
    for _ in 0..settings.number("tasks") {
        let load = Arc::clone(&load);
        tasks.spawn(async move {
            while Instant::now() < load.end {
                load.hold_once().await?;
            }
            Ok::<_, Error>(())
        });
    }
    while let Some(ended) = tasks.join_next().await {
        ended.expect("no panic")?;
    }
    let (held, lost) = (&load.held, &load.lost);
    println!(
        "done {} {}",
        held.load(Ordering::Relaxed),
        lost.load(Ordering::Relaxed)
    );
    client.shutdown().await
}

impl Load {
    async fn hold_once(&self) -> Result<(), Error> {
        let (write, patience) = (fastrand::u64(0..100) >= self.reads, Patience::Forever);
        let id = self.journal.asks(0, write, None, patience, false);
        let guard = self.lock.ask(write, patience).await?.expect("it waits");
        let token = guard.fencing_token().map(FencingToken::as_u64);
        let belief = Belief::begin(&self.journal, id, token, || guard.check().is_err());
        self.held.fetch_add(1, Ordering::Relaxed);
        let work = Duration::from_micros(fastrand::u64(0..=self.hold_us));
        belief.hold(&guard, work).await;
        match guard.release().await {
            Err(error) if error.is_lost() => {
                self.journal.released(id, "lost");
                self.lost.fetch_add(1, Ordering::Relaxed);
            }
            released => {
                released?;
                self.journal.released(id, "ok");
            }
        }
        Ok(())
    }
}

async fn hold_reading(settings: &Settings) -> Result<(), Error> {
    let guard = settings.lock().await?.read().await?;
    println!("holding {}", guard.fencing_token());
    guard.lost().await;
    println!("lost");
    report_release(guard.release().await);
    pending().await
}

async fn hold_writing(settings: &Settings) -> Result<(), Error> {
    let guard = settings.lock().await?.write().await?;
    println!("holding {}", guard.fencing_token());
    guard.lost().await;
    println!("lost");
    report_release(guard.release().await);
    pending().await
}

fn report_release(released: Result<(), Error>) {
    match released {
        Ok(()) => println!("released"),
        Err(error) => println!("release failed: {:?}", error.kind()),
    }
}

async fn annotated(settings: &Settings) -> Result<(), Error> {
    let client = settings.client().await?;
    let ended = tick_under_lock(&client, settings.text("lock"), settings.text("ticks")).await;
    match ended {
        Ok(()) => println!("the body ended"),
        Err(error) => println!("stopped: {:?}", error.kind()),
    }
    pending().await
}

/// Appends a line to a file again and again, for as long as it is let.
#[distributed_lock(key = "{lock}", mode = "write", client = client)]
async fn tick_under_lock(client: &Client, lock: &str, ticks: &str) -> Result<(), Error> {
    let mut file = OpenOptions::new()
        .create(true)
        .append(true)
        .open(ticks)
        .expect("the ticks' file is writable");
    loop {
        file.write_all(b"tick\n").expect("the disk has room");
        sleep(Duration::from_millis(5)).await;
    }
}
