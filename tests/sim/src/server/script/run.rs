//! Running a script on a server.

use super::call::{RUNNING, Running};
use super::convert::error;
use super::env::Failure;
use super::host::execute;
use super::source::Script;
use crate::server::admin::FailKind;
use crate::server::command::Caller;
use crate::server::config::Flavour;
use crate::server::node::Node;
use crate::server::resp::Reply;

/// Runs a script that a client has asked for.
pub(in super::super) fn run(
    node: &mut Node,
    caller: Caller,
    script: &Script,
    keys: &[&[u8]],
    args: &[&[u8]],
) -> Reply {
    // A script at which the server may die begins with nothing to be written, so that it is clear what is its own.
    let may_die = matches!(node.failure, Some((_, FailKind::Dies { .. })));
    let before = may_die.then(|| {
        (
            std::mem::take(&mut node.out),
            std::mem::take(&mut node.links),
            node.data.clone(),
        )
    });
    let stand_in = node.stand_in();
    let lent = std::mem::replace(node, stand_in);
    let flavour = lent.flavour;
    RUNNING.set(Some(Running::new(lent, caller, keys)));
    let outcome = execute(flavour, script, keys, args);
    let death = match RUNNING.take() {
        Some(running) => {
            *node = running.node;
            running.death
        }
        None => None,
    };
    if let Some((mut out, mut links, data)) = before {
        if let Some((kept, heard)) = death {
            if !kept {
                node.data = data;
                node.effects.clear();
            }
            if !heard {
                node.out.clear();
                node.links.clear();
            }
            node.replicate();
        }
        out.append(&mut node.out);
        links.append(&mut node.links);
        (node.out, node.links) = (out, links);
        if death.is_some() {
            node.die();
        }
    }
    match outcome {
        Ok(reply) => reply,
        Err(failure) => tell(flavour, script, &failure),
    }
}

fn tell(flavour: Flavour, script: &Script, failure: &Failure) -> Reply {
    let sha = String::from_utf8_lossy(&script.sha);
    let Failure { message, place } = failure;
    error(&match (flavour, place) {
        (Flavour::Redis62, Some((source, line))) => {
            format!("ERR Error running script (call to f_{sha}): {source}:{line}: {message}")
        }
        (Flavour::Redis62, None) => {
            format!("ERR Error running script (call to f_{sha}): {message}")
        }
        (_, Some((source, line))) => format!("{message} script: {sha}, on {source}:{line}."),
        (_, None) => message.clone(),
    })
}
