//! What a test may ask of a server.

use std::{ffi::OsString, fmt::Write as _};

/// How to start a [`RedisServer`](crate::RedisServer).
#[derive(Clone, Debug, Default)]
pub struct ServerOptions {
    pub(crate) password: Option<String>,
    config: Vec<String>,
    pub(crate) environment: Vec<(String, OsString)>,
}

impl ServerOptions {
    /// A server without password, users or persistence.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the password of the default user; [`RedisServer::url`](crate::RedisServer::url) contains it.
    #[must_use]
    pub fn password(mut self, password: &str) -> Self {
        self.password = Some(password.to_owned());
        self.config(&format!("requirepass {password}"))
            .config(&format!("masterauth {password}"))
    }

    /// Adds an ACL user, for example `user("app", "on >secret ~dlock:* +@all")`.
    #[must_use]
    pub fn user(self, name: &str, rules: &str) -> Self {
        self.config(&format!("user {name} {rules}"))
    }

    /// Makes the server a replica of the one on loopback port `port`.
    #[must_use]
    pub fn replica_of(self, port: u16) -> Self {
        self.config(&format!("replicaof 127.0.0.1 {port}"))
    }

    /// Adds a line of `redis.conf`.
    #[must_use]
    pub fn config(mut self, line: &str) -> Self {
        self.config.push(line.to_owned());
        self
    }

    /// Sets a variable of its environment, whenever it is started.
    #[must_use]
    pub fn variable(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.environment.push((name.to_owned(), value.into()));
        self
    }

    /// Without a log file: the log goes to the standard output, with what is wrong with the configuration.
    pub(crate) fn to_config(&self, port: u16) -> String {
        let mut text = format!(
            "bind 127.0.0.1\nport {port}\ndaemonize no\nsave \"\"\nappendonly no\n\
             repl-diskless-sync yes\nrepl-diskless-sync-delay 0\n"
        );
        for line in &self.config {
            writeln!(text, "{line}").expect("a String takes everything");
        }
        text
    }
}
