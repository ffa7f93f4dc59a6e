//! Asking servers which node serves which slots, and outside of a cluster, which server is the master.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{Either, join_all, select};

use crate::backoff::Backoff;
use crate::clock::{Instant, sleep, timeout};
use crate::error::{Error, ErrorKind};
use crate::store::redis::node::{DialFailure, Node, Trouble, fatal};
use crate::store::redis::wire::{
    Pipeline, Refusal, Role, Value, View, hello, refusal, slots_and_epoch,
};
use crate::tasks::{JoinSet, Place};

/// How long one server may keep the next one from being asked.
pub(super) const STAGGER: Duration = Duration::from_millis(100);

/// Why a server's answer is of no use.
pub(super) enum AskFailure {
    /// Another time perhaps.
    Trouble(Trouble),
    /// The server is a replica outside of a cluster.
    Replica(Error),
    /// There are several servers without a cluster, of which none is a replica.
    SeveralMasters(Error),
    /// Wrong password and the like.
    Fatal(Error),
}

impl From<Trouble> for AskFailure {
    fn from(trouble: Trouble) -> Self {
        Self::Trouble(trouble)
    }
}

impl From<DialFailure> for AskFailure {
    fn from(failure: DialFailure) -> Self {
        match failure {
            DialFailure::Trouble(trouble) => Self::Trouble(trouble),
            DialFailure::Fatal(error) => Self::Fatal(error),
        }
    }
}

/// Asks one server.
pub(super) async fn ask(node: &Arc<Node>, deadline: Instant) -> Result<View, AskFailure> {
    let at = node.address();
    let answer = query(node, &hello(), deadline).await?.swap_remove(0);
    let role = Role::of(&answer);
    // If this fails, another task has stored the result.
    let _ = node.env().known.cluster.set(role == Role::Cluster);
    match role {
        Role::Cluster => {
            let answers = query(node, &slots_and_epoch(), deadline).await?;
            let nobody = || Trouble::NoSlots(at.clone());
            let mut view = View::of_cluster(&answers, at).ok_or_else(nobody)?;
            let stranger = view.forget(|named| !node.env().options.trusts(named, at));
            match stranger {
                _ if !view.ranges.is_empty() => Ok(view),
                Some(named) => {
                    let by = at.clone();
                    Err(Trouble::Stranger { by, named }.into())
                }
                None => Err(nobody().into()),
            }
        }
        Role::Sentinel => Err(AskFailure::Fatal(Error::new(
            ErrorKind::InvalidConfig,
            format!("{at} is a Redis Sentinel; give the address of the master it watches"),
        ))),
        Role::Replica => Err(AskFailure::Replica(Error::new(
            ErrorKind::Unavailable,
            format!(
                "Redis at {at} is a read-only replica; give the address of its master (with both \
                 as seeds, whichever is the master is used)"
            ),
        ))),
        Role::Standalone => Ok(View::standalone(at)),
    }
}

/// The answers to some commands, of which the first is no error.
async fn query(
    node: &Arc<Node>,
    pipeline: &Pipeline,
    deadline: Instant,
) -> Result<Vec<Value>, AskFailure> {
    let options = &node.env().options;
    let at = node.address();
    let mut session = node.connected(deadline).await?;
    let sent = Instant::now();
    let until = deadline.min(sent + options.response_timeout);
    let trouble = match session.connection.request_all(pipeline, until).await {
        Ok(answers) => match answers.first().and_then(refusal) {
            Some(error) => match Refusal::of(error, at) {
                Refusal::Fatal(kind @ ErrorKind::Unauthorized) => {
                    // For the advice.
                    node.offer(&mut session, "{}", until).await;
                    return Err(AskFailure::Fatal(fatal(kind, error, node, "", None)));
                }
                _ => Trouble::Refused(at.clone(), error.clone()),
            },
            None => return Ok(answers),
        },
        Err(why) => node.unanswered(&session, sent, why),
    };
    Err(AskFailure::Trouble(trouble))
}

/// Asks servers in order, `enough` at a time, the next one when one has failed or taken longer than
/// `stagger`. Ends after `enough` usable answers, or with some when the rest is slow. All failures if there
/// is no answer.
pub(super) async fn ask_some(
    nodes: Vec<Arc<Node>>,
    enough: usize,
    stagger: Duration,
    deadline: Instant,
) -> Result<Vec<View>, Vec<AskFailure>> {
    let mut waiting = nodes.into_iter();
    let mut asked = JoinSet::new();
    let here = Place::here();
    let (mut views, mut failures) = (Vec::new(), Vec::new());
    loop {
        if views.len() + asked.len() < enough.max(1)
            && let Some(node) = waiting.next()
        {
            here.spawn_into(&mut asked, async move { ask(&node, deadline).await });
            continue;
        }
        let pause = if views.is_empty() && waiting.len() == 0 {
            deadline - Instant::now()
        } else {
            stagger
        };
        match timeout(pause, asked.join_next()).await {
            Ok(None) => break,
            Ok(Some(Ok(Ok(view)))) => views.push(view),
            Ok(Some(Ok(Err(failure)))) => failures.push(failure),
            // The task was aborted with its runtime.
            Ok(Some(Err(_))) => {}
            // Slow: with an answer at hand, that was enough of waiting.
            Err(_) if !views.is_empty() => break,
            Err(_) => {
                let Some(node) = waiting.next() else { break };
                here.spawn_into(&mut asked, async move { ask(&node, deadline).await });
            }
        }
        if views.len() >= enough {
            break;
        }
    }
    if views.is_empty() {
        Err(failures)
    } else {
        Ok(views)
    }
}

/// How long the server of up to now may fail to answer before others are asked, and then has once more, over a new
/// connection; how long two may take themselves for masters, or none, at a client's start: as while a failover is under way.
pub(super) const PATIENCE: Duration = Duration::from_secs(2);

/// How long other servers may fail to answer before they are left out. Their own clients must have left them by then, which need
/// twice the patience, and some time to notice.
pub(super) const HEARING: Duration = Duration::from_secs(5);

/// How soon a master is looked for again that was not found: each time that takes a connection.
const AGAIN: Duration = Duration::from_millis(500);

/// The master, if known. It is `own` for as long as it answers now and then, also if its connections break. The others, which
/// are listed with it, come into question when it says that it is a replica, or has said nothing for a
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
    /// The servers that say that they are masters.
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
