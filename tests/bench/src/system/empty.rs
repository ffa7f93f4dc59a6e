//! Two round trips with scripts that do nothing: what the connection and the script call cost.

use std::sync::Arc;

use redis::Script;

use super::{Body, Mode, Setup, System, evalsha, shards::Shards};

const CODE: &str = "return 1";

#[derive(Clone)]
pub(crate) struct Empty {
    shards: Shards,
    script: Arc<Script>,
}

impl System for Empty {
    async fn connect(setup: &Setup) -> Self {
        let script = Script::new(CODE);
        Self {
            shards: Shards::connect(&setup.url, &[&script]).await,
            script: Arc::new(script),
        }
    }

    async fn locked<B: Body>(&self, _mode: Mode, key: &str, body: B) -> B::Output {
        let command = evalsha(&self.script, key);
        self.shards.send(key, &command).await;
        let output = body.await;
        self.shards.send(key, &command).await;
        output
    }
}
