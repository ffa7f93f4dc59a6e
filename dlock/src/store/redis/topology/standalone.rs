//! Outside of a cluster: who is the master. Two would be two locks of the same name.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;

use super::survey::{AskFailure, ask};
use crate::clock::{Instant, sleep};
use crate::error::{Error, ErrorKind};
use crate::store::redis::backoff::Backoff;
use crate::store::redis::node::{Node, Trouble};
use crate::store::redis::wire::View;

/// How long the server of up to now may fail to answer before others are asked, and how long these have then; how long two
/// may take themselves for masters, or none, at a client's start: as while a failover is under way.
pub(super) const PATIENCE: Duration = Duration::from_secs(2);

/// Who serves now, if that is known. It is `own` for as long as it answers now and then, also if its connections break. The
/// others, which are listed with it, come into question when it says that it is a replica, or has said nothing for a
/// while.
pub(super) async fn master(own: &Arc<Node>, all: &[Arc<Node>]) -> Option<View> {
    match ask_until(own, Instant::now() + PATIENCE, |_| false).await {
        Ok(view) => return Some(view),
        Err(AskFailure::Replica(_) | AskFailure::Trouble(_)) => {}
        Err(_) => return None,
    }
    let (mut views, failures) = hear(all, Instant::now() + PATIENCE).await;
    match views.iter().position(|view| view.by == *own.address()) {
        Some(back) => Some(views.swap_remove(back)),
        None => only(views, failures).ok(),
    }
}

/// The only one of these that takes itself for the master.
pub(super) async fn only_master(
    nodes: &[Arc<Node>],
    until: Instant,
) -> Result<View, Vec<AskFailure>> {
    let (views, failures) = hear(nodes, until).await;
    only(views, failures)
}

/// Hears all of them, but those that do not run.
async fn hear(nodes: &[Arc<Node>], until: Instant) -> (Vec<View>, Vec<AskFailure>) {
    let asked = nodes.iter().map(|node| ask_until(node, until, is_down));
    let (mut views, mut failures) = (Vec::new(), Vec::new());
    for answer in join_all(asked).await {
        match answer {
            Ok(view) => views.push(view),
            Err(failure) => failures.push(failure),
        }
    }
    (views, failures)
}

fn is_down(trouble: &Trouble) -> bool {
    matches!(trouble, Trouble::Io(_, cause) if cause.is_connection_refusal())
}

/// Asks a server until it says what it is, or is in a trouble that is the end of it.
async fn ask_until(
    node: &Arc<Node>,
    until: Instant,
    is_the_end: fn(&Trouble) -> bool,
) -> Result<View, AskFailure> {
    let mut backoff = Backoff::of_request();
    loop {
        let trouble = match ask(node, until).await {
            Err(AskFailure::Trouble(trouble)) => trouble,
            said => return said,
        };
        if is_the_end(&trouble) || Instant::now() >= until {
            return Err(AskFailure::Trouble(trouble));
        }
        sleep(backoff.pause()).await;
    }
}

/// One that refuses the login may be a master, too.
fn only(mut views: Vec<View>, failures: Vec<AskFailure>) -> Result<View, Vec<AskFailure>> {
    if let [a, b, ..] = views.as_slice() {
        let error = Error::new(
            ErrorKind::InvalidConfig,
            format!(
                "the seeds {} and {} are servers without a cluster, and neither is a replica; a lock \
                 must live on one of them: give one server, or a master and its replicas",
                a.by, b.by
            ),
        );
        return Err(vec![AskFailure::SeveralMasters(error)]);
    }
    let is_refused = |failure: &AskFailure| matches!(failure, AskFailure::Fatal(_));
    match views.pop() {
        Some(view) if !failures.iter().any(is_refused) => Ok(view),
        _ => Err(failures),
    }
}
