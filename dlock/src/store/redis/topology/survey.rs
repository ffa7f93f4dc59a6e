//! Asking servers who serves what.

use std::sync::Arc;
use std::time::Duration;

use crate::clock::{Instant, timeout};
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
    // Whoever was first has found the same.
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
        match timeout(stagger, asked.join_next()).await {
            Ok(None) => break,
            Ok(Some(Ok(Ok(view)))) => views.push(view),
            Ok(Some(Ok(Err(failure)))) => failures.push(failure),
            // The task was aborted with its runtime.
            Ok(Some(Err(_))) => {}
            // Slow: with an answer at hand, that was enough of waiting.
            Err(_) if !views.is_empty() => break,
            Err(_) => {
                if let Some(node) = waiting.next() {
                    here.spawn_into(&mut asked, async move { ask(&node, deadline).await });
                }
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
