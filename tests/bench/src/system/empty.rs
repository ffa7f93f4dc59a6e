//! Two round trips with scripts that do nothing: what the connection and the script call cost.

use std::sync::Arc;

use redis::{Cmd, Script};

use super::{Mode, Setup, System, shards::Shards};

const CODE: &str = "return 1";

#[derive(Clone)]
pub(crate) struct Empty {
    shards: Shards,
    script: Arc<Script>,
}

impl System for Empty {
    async fn connect(setup: &Setup) -> Self {
        Self {
            shards: Shards::connect(&setup.url, &[CODE]).await,
            script: Arc::new(Script::new(CODE)),
        }
    }

    async fn locked<F>(&self, _mode: Mode, key: &str, body: F) -> F::Output
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let mut command = Cmd::new();
        command
            .arg("EVALSHA")
            .arg(self.script.get_hash())
            .arg(1)
            .arg(key);
        self.shards.send(key, &command).await;
        let output = body.await;
        self.shards.send(key, &command).await;
        output
    }
}
