//! Outside of a cluster: whether the server of up to now is still the one.

use std::sync::Arc;
use std::time::Duration;

use super::survey::{AskFailure, STAGGER, ask_some};
use crate::clock::{Instant, sleep};
use crate::store::redis::backoff::Backoff;
use crate::store::redis::node::Node;
use crate::store::redis::wire::View;

/// How long it may fail to answer before others are asked, and how long these have then.
const PATIENCE: Duration = Duration::from_secs(2);

/// Who serves now. That is `own` for as long as it answers now and then, also if its connections break: another one that
/// takes itself for a master would be another lock of the same name. The others, which are listed with it, come into
/// question when it says that it is a replica, or has said nothing for a while.
pub(super) async fn master(own: Vec<Arc<Node>>, all: Vec<Arc<Node>>) -> Vec<View> {
    let until = Instant::now() + PATIENCE;
    let mut backoff = Backoff::of_request();
    loop {
        let failures = match ask_some(own.clone(), 1, PATIENCE, until).await {
            Ok(views) => return views,
            Err(failures) => failures,
        };
        let has_said = |what: fn(&AskFailure) -> bool| failures.iter().any(what);
        if has_said(|failure| matches!(failure, AskFailure::Fatal(_))) {
            return Vec::new();
        }
        let is_replica = has_said(|failure| matches!(failure, AskFailure::Replica(_)));
        if is_replica || Instant::now() >= until {
            break;
        }
        sleep(backoff.pause()).await;
    }
    let found = ask_some(all, 1, STAGGER, Instant::now() + PATIENCE).await;
    found.unwrap_or_default()
}
