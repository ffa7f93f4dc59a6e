//! Outside of a cluster: who is the master. Two would be two locks of the same name.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{Either, join_all, select};

use super::survey::{AskFailure, ask};
use crate::backoff::Backoff;
use crate::clock::{Instant, sleep};
use crate::error::{Error, ErrorKind};
use crate::store::redis::node::{Node, Trouble};
use crate::store::redis::wire::View;

/// How long the server of up to now may fail to answer before others are asked, and then has once more, over a new
/// connection; how long two may take themselves for masters, or none, at a client's start: as while a failover is under way.
pub(super) const PATIENCE: Duration = Duration::from_secs(2);

/// How long others may fail to answer before they are left out: their own clients must have left them by then, who need
/// twice the patience, and some time to notice.
pub(super) const HEARING: Duration = Duration::from_secs(5);

/// How soon a master is looked for again that was not found: each time that takes a connection.
const AGAIN: Duration = Duration::from_millis(500);

/// Who serves now, if that is known. It is `own` for as long as it answers now and then, also if its connections break. The
/// others, which are listed with it, come into question when it says that it is a replica, or has said nothing for a
/// while.
pub(super) async fn master(own: &Arc<Node>, all: &[Arc<Node>]) -> Option<(View, Arc<Node>)> {
    match ask_until(own, Instant::now() + PATIENCE, |_| false).await {
        Ok(view) => return Some((view, Arc::clone(own))),
        Err(AskFailure::Replica(_) | AskFailure::Trouble(_)) => {}
        Err(_) => return None,
    }
    // The connection may be dead, or its address lead to another server by now.
    let anew = Node::new(own.address().clone(), own.env());
    let others: Vec<_> = all
        .iter()
        .filter(|node| node.address() != own.address())
        .cloned()
        .collect();
    let now = Instant::now();
    let back = pin!(ask_until(&anew, now + PATIENCE, is_down));
    let heard = pin!(hear(&others, now + HEARING));
    let (back, mut heard) = match select(back, heard).await {
        Either::Left((Ok(view), _)) => return Some((view, Arc::clone(&anew))),
        Either::Left((Err(failure), heard)) => (Err(failure), heard.await),
        Either::Right((heard, back)) => (back.await, heard),
    };
    match back {
        Ok(view) => return Some((view, Arc::clone(&anew))),
        Err(failure) => heard.failures.push(failure),
    }
    let found = heard.only().ok();
    if found.is_none() {
        sleep(AGAIN).await;
    }
    found
}

/// The only one of these that takes itself for the master.
pub(super) async fn only_master(
    nodes: &[Arc<Node>],
    until: Instant,
) -> Result<View, Vec<AskFailure>> {
    let (view, _) = hear(nodes, until).await.only()?;
    Ok(view)
}

/// What several servers have said of themselves.
#[derive(Default)]
struct Answers {
    /// Who takes themselves for masters.
    masters: Vec<(View, Arc<Node>)>,
    failures: Vec<AskFailure>,
}

impl Answers {
    /// The only master. One that refuses the login may be one, too.
    fn only(mut self) -> Result<(View, Arc<Node>), Vec<AskFailure>> {
        if let [(a, _), (b, _), ..] = self.masters.as_slice() {
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
        match self.masters.pop() {
            Some(master) if !self.failures.iter().any(is_refused) => Ok(master),
            _ => Err(self.failures),
        }
    }
}

/// Hears all of them, but those that do not run.
async fn hear(nodes: &[Arc<Node>], until: Instant) -> Answers {
    let asked = nodes.iter().map(|node| ask_until(node, until, is_down));
    let mut heard = Answers::default();
    for (node, answer) in nodes.iter().zip(join_all(asked).await) {
        match answer {
            Ok(view) => heard.masters.push((view, Arc::clone(node))),
            Err(failure) => heard.failures.push(failure),
        }
    }
    heard
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
