//! One real redis-server.

mod options;
mod version;

use std::{
    net::{Ipv4Addr, SocketAddr},
    process::Command,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use redis::{AsyncConnectionConfig, FromRedisValue, IntoConnectionInfo, RedisResult, Value};

pub use self::options::ServerOptions;
pub(crate) use self::version::version;
use crate::{
    CommandStats, feature::sharded_channels, folder::Folder, port::Port, process::Process,
    wait::scaled, wait_until,
};

const CONFIG: &str = "redis.conf";

/// A real redis-server on a loopback port and in a folder of its own.
///
/// It ends when the value is dropped, and when the test process ends in any way.
#[derive(Debug)]
pub struct RedisServer {
    port: Port,
    password: Option<String>,
    process: Mutex<Process>,
}

impl RedisServer {
    /// Starts a server and waits until it answers.
    pub async fn start() -> Self {
        Self::start_with(&ServerOptions::new()).await
    }

    /// Starts a server with options and waits until it answers.
    pub async fn start_with(options: &ServerOptions) -> Self {
        let server = Self::launch(Port::reserve(), options, &[]);
        server.wait_ready().await;
        server
    }

    /// Starts a server with these files in its folder, and does not wait.
    pub(crate) fn launch(port: Port, options: &ServerOptions, files: &[(&str, &str)]) -> Self {
        let folder = Folder::create();
        let write = |name: &str, text: &str| {
            std::fs::write(folder.path().join(name), text).expect("the folder is writable");
        };
        write(CONFIG, &options.to_config(port.number()));
        for (name, text) in files {
            write(name, text);
        }
        let mut command = Command::new(version::program());
        command.arg(CONFIG);
        command.envs(options.environment.iter().cloned());
        Self {
            process: Mutex::new(Process::start(folder, command)),
            password: options.password.clone(),
            port,
        }
    }

    pub(crate) async fn wait_ready(&self) {
        wait_until(Duration::from_secs(10), "redis-server answers", || async {
            let ended = self.process().ended();
            assert!(ended.is_none(), "redis-server ended:\n{}", self.log());
            self.command(&["PING"]).await.is_ok()
        })
        .await;
    }

    /// The port it listens on.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port.number()
    }

    /// The number of its process.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.process().pid()
    }

    /// The address it listens on.
    #[must_use]
    pub fn addr(&self) -> SocketAddr {
        (Ipv4Addr::LOCALHOST, self.port()).into()
    }

    /// `redis://127.0.0.1:PORT`, with the default user's password if there is one.
    #[must_use]
    pub fn url(&self) -> String {
        self.url_of_port(self.port())
    }

    /// The same, for a proxy in front of this server.
    #[must_use]
    pub fn url_of_port(&self, port: u16) -> String {
        match &self.password {
            Some(password) => format!("redis://:{password}@127.0.0.1:{port}"),
            None => format!("redis://127.0.0.1:{port}"),
        }
    }

    /// Sends one command on a connection of its own, past any proxy.
    ///
    /// # Errors
    /// What the server answered, or an I/O error if it did not answer within two seconds.
    pub async fn command(&self, arguments: &[&str]) -> RedisResult<Value> {
        let info = self.url().into_connection_info()?;
        // No CLIENT SETINFO: these connections should leave few traces in the statistics.
        let settings = info.redis_settings().clone().set_skip_set_lib_name();
        let limit = Some(scaled(Duration::from_secs(2)));
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(limit)
            .set_response_timeout(limit);
        let mut connection = redis::Client::open(info.set_redis_settings(settings))?
            .get_multiplexed_async_connection_with_config(&config)
            .await?;
        let mut command = redis::Cmd::new();
        for argument in arguments {
            command.arg(*argument);
        }
        command.query_async(&mut connection).await
    }

    /// Sends one command and converts the reply; panics on an error.
    pub async fn query<T: FromRedisValue>(&self, arguments: &[&str]) -> T {
        match self.command(arguments).await {
            Ok(value) => redis::from_redis_value(value)
                .unwrap_or_else(|error| panic!("{arguments:?} on port {}: {error}", self.port())),
            Err(error) => panic!("{arguments:?} on port {}: {error}", self.port()),
        }
    }

    /// One section of `INFO`.
    ///
    /// # Errors
    /// As [`command`](Self::command).
    pub async fn info(&self, section: &str) -> RedisResult<String> {
        Ok(redis::from_redis_value(
            self.command(&["INFO", section]).await?,
        )?)
    }

    /// What it counts in `INFO commandstats`. Commands that scripts call count, too; panics if it does not answer.
    pub async fn command_stats(&self) -> CommandStats {
        let mut stats = CommandStats::default();
        stats.add(&self.query::<String>(&["INFO", "commandstats"]).await);
        stats
    }

    /// The channels that have subscribers, of either kind.
    pub async fn channels(&self) -> Vec<String> {
        let mut channels: Vec<String> = self.query(&["PUBSUB", "CHANNELS"]).await;
        if sharded_channels() {
            channels.extend(
                self.query::<Vec<String>>(&["PUBSUB", "SHARDCHANNELS"])
                    .await,
            );
        }
        channels
    }

    /// The password of the default user.
    #[must_use]
    pub fn password(&self) -> Option<&str> {
        self.password.as_deref()
    }

    /// Freezes the server (SIGSTOP): connections stay open and nothing answers.
    pub fn pause(&self) {
        self.process().pause();
    }

    /// Lets a paused server run again.
    pub fn resume(&self) {
        self.process().resume();
    }

    /// Kills the server (SIGKILL). Its data is gone, its port stays reserved.
    pub fn kill(&self) {
        self.process().kill();
    }

    /// Kills the server if it runs, starts it again on the same port, and waits until it answers.
    pub async fn restart(&self) {
        self.relaunch();
        self.wait_ready().await;
    }

    /// Kills the server if it runs, and starts it again on the same port, without waiting. It has the data of its
    /// append-only file, if there is one.
    pub fn relaunch(&self) {
        let mut process = self.process();
        process.kill();
        // A replica leaves its last full sync here, and would come back with that old data.
        let dump = process.folder().join("dump.rdb");
        if dump.exists() {
            std::fs::remove_file(dump).expect("the folder is writable");
        }
        process.start_again();
    }

    /// Kills the server, and removes its append-only file.
    pub fn kill_and_forget(&self) {
        let mut process = self.process();
        process.kill();
        let file = process.folder().join("appendonly.aof");
        if file.exists() {
            std::fs::remove_file(file).expect("the folder is writable");
        }
        // Redis 7 has several files.
        let files = process.folder().join("appendonlydir");
        if files.exists() {
            std::fs::remove_dir_all(files).expect("the folder is writable");
        }
    }

    /// Whether the server runs: neither killed nor paused.
    #[must_use]
    pub fn is_live(&self) -> bool {
        self.process().is_live()
    }

    /// Whether its process has ended, by itself or killed.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.process().ended().is_some()
    }

    /// What the server logged so far.
    #[must_use]
    pub fn log(&self) -> String {
        self.process().output()
    }

    fn process(&self) -> MutexGuard<'_, Process> {
        self.process.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
