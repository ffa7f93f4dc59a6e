//! Questions to every master: which locks there are, and how busy the servers are.

use std::sync::Arc;

use super::caller::Caller;
use crate::clock::Instant;
use crate::error::Error;
use crate::store::redis::node::{DialFailure, Node, Trouble, fatal};
use crate::store::redis::wire::{
    Cmd, Refusal, ScriptLoad, Value, command_statistics, found, scan, unless_refused,
};

impl Caller {
    /// The keys of all hashes that start with `stem`.
    pub(crate) async fn keys(&self, stem: &str, deadline: Instant) -> Result<Vec<String>, Error> {
        let mut keys = Vec::new();
        for node in self.masters() {
            let mut next = Some("0".to_owned());
            while let Some(cursor) = next.take() {
                let answer = self.ask(&node, &scan(stem, &cursor), deadline).await?;
                if let Some((following, found)) = found(&answer) {
                    next = following;
                    keys.extend(found);
                }
            }
        }
        // A scan may name a key twice, and so may a slot on the move.
        keys.sort_unstable();
        keys.dedup();
        Ok(keys)
    }

    /// What all masters together have done so far.
    pub(crate) async fn script_load(&self, deadline: Instant) -> Result<ScriptLoad, Error> {
        let mut load = ScriptLoad::default();
        for node in self.masters() {
            load.add(&self.ask(&node, &command_statistics(), deadline).await?);
        }
        Ok(load)
    }

    fn masters(&self) -> Vec<Arc<Node>> {
        self.servers.now().masters()
    }

    async fn ask(&self, node: &Arc<Node>, cmd: &Cmd, deadline: Instant) -> Result<Value, Error> {
        let mut session = match node.connected_at_last(deadline).await {
            Ok(session) => session,
            Err(DialFailure::Fatal(error)) => return Err(error),
            Err(DialFailure::Trouble(trouble)) => return Err(trouble.into_error()),
        };
        let sent = Instant::now();
        let until = deadline.min(sent + self.env.options.response_timeout);
        match session.connection.request(cmd, until).await {
            Ok(value) => {
                unless_refused(value).map_err(|error| match Refusal::of(&error, node.address()) {
                    Refusal::Fatal(kind) => fatal(kind, &error, node, "*", None),
                    _ => Trouble::Refused(node.address().clone(), error).into_error(),
                })
            }
            Err(why) => Err(node.unanswered(&session, sent, why).into_error()),
        }
    }
}
