//! A script that runs, and what a server checks before it runs a script's command, in its order: `scriptCall` of each
//! version.

use std::cell::RefCell;

use super::trouble::Trouble;
use crate::server::admin::FailKind;
use crate::server::cluster::{Redirect, slot_of};
use crate::server::command::{Call, Caller, FULL, NO_REPLICAS, READ_ONLY, Spec, find, keys};
use crate::server::config::Flavour;
use crate::server::node::Node;
use crate::server::resp::Reply;

thread_local! {
    /// The script that runs in this thread.
    pub(super) static RUNNING: RefCell<Option<Running>> = const { RefCell::new(None) };
}

/// A script that runs, with the server that is lent to it.
pub(super) struct Running {
    pub(super) node: Node,
    pub(super) caller: Caller,
    /// Whether it has written, or tried to.
    wrote: bool,
    /// Whether memory was full when it began.
    full: bool,
    calls: usize,
    /// The slot in which the server looks for the next command's keys, if it does not look at the keys themselves.
    slot: Option<u16>,
    /// What the last call that threw has thrown: Lua carries it as a value of its own.
    pub(super) thrown: Option<String>,
    /// How the server dies, if it does: what is kept and heard.
    pub(super) death: Option<(bool, bool)>,
}

impl Running {
    pub(super) fn new(node: Node, caller: Caller, keys: &[&[u8]]) -> Self {
        let full = node.full;
        let in_script = true;
        Self {
            node,
            caller: Caller {
                in_script,
                ..caller
            },
            wrote: false,
            full,
            calls: 0,
            slot: keys.first().map(|key| slot_of(key)),
            thrown: None,
            death: None,
        }
    }

    /// Runs a command.
    pub(super) fn call(&mut self, args: &[&[u8]]) -> Result<Reply, Trouble> {
        if self.death.is_some() {
            return Err(Trouble::Death);
        }
        self.calls += 1;
        if let Some((n, _)) = &self.node.failure
            && *n == self.calls
            && let Some((_, how)) = self.node.failure.take()
        {
            return Err(match how {
                FailKind::Error(line) => Trouble::Answer(line),
                FailKind::Dies { kept, heard } => {
                    self.death = Some((kept, heard));
                    Trouble::Death
                }
            });
        }
        let spec = self.check(args)?;
        let caller = self.caller;
        match (spec.run)(&mut self.node, &Call { caller, spec, args }) {
            Reply::Error(line) => Err(Trouble::Answer(line.into_owned())),
            reply => Ok(reply),
        }
    }

    fn check(&mut self, args: &[&[u8]]) -> Result<&'static Spec, Trouble> {
        let flavour = self.node.flavour;
        let Some(spec) = find(args[0], flavour) else {
            return Err(Trouble::plain(words(flavour, Refused::Unknown)));
        };
        if !spec.fits(args.len(), flavour) {
            return Err(Trouble::plain(words(flavour, Refused::Arity)));
        }
        if !spec.is_for_scripts() {
            return Err(Trouble::plain(words(flavour, Refused::NoScript)));
        }
        // Since Redis 7 a script that has begun to write is not stopped any more.
        if spec.writes() && (!self.wrote || flavour == Flavour::Redis62) {
            if self.node.is_replica() {
                return Err(Trouble::Coded(READ_ONLY));
            }
            if self.node.lacks_replicas() {
                return Err(Trouble::Coded(NO_REPLICAS));
            }
        }
        if self.full && spec.wants_memory() && !self.wrote && !self.node.is_replica() {
            return Err(Trouble::Coded(FULL));
        }
        self.wrote |= spec.writes();
        if self.node.cluster.is_some() {
            // Since Redis 8 keys are kept by slots, and a key is looked for in the slot of the one before; Valkey
            // knows better once a command has run.
            let within = self.slot.filter(|_| flavour >= Flavour::Redis80);
            if let Some(redirect) = self.node.redirect(self.caller, spec, args, within) {
                return Err(Trouble::plain(elsewhere(flavour, spec, redirect)));
            }
            let slot = keys(spec, args).first().map(|key| slot_of(key));
            self.slot = slot.filter(|_| flavour != Flavour::Valkey81);
        }
        Ok(spec)
    }
}

#[derive(Clone, Copy)]
enum Refused {
    Unknown,
    Arity,
    NoScript,
}

fn words(flavour: Flavour, refused: Refused) -> &'static str {
    match (refused, flavour) {
        (Refused::Unknown, Flavour::Redis62) => "Unknown Redis command called from Lua script",
        (Refused::Unknown, Flavour::Valkey81) => "Unknown command called from script",
        (Refused::Unknown, _) => "Unknown Redis command called from script",
        (Refused::Arity, Flavour::Redis62) => {
            "Wrong number of args calling Redis command From Lua script"
        }
        (Refused::Arity, Flavour::Valkey81) => "Wrong number of args calling command from script",
        (Refused::Arity, _) => "Wrong number of args calling Redis command from script",
        (Refused::NoScript, Flavour::Redis62) => "This Redis command is not allowed from scripts",
        (Refused::NoScript, _) => "This Redis command is not allowed from script",
    }
}

/// What a script hears where a client would be sent elsewhere.
fn elsewhere(flavour: Flavour, spec: &Spec, redirect: Redirect) -> String {
    let script = if flavour == Flavour::Redis62 {
        "Lua script"
    } else {
        "Script"
    };
    let tells = flavour >= Flavour::Redis80;
    match redirect {
        Redirect::Down => {
            format!("{script} attempted to execute a command while the cluster is down")
        }
        Redirect::CrossSlot if tells => {
            format!(
                "Command '{}' in script attempted to access keys that don't hash to the same slot",
                spec.name
            )
        }
        Redirect::Unserved if tells => "Script attempted to access a slot not served".into(),
        Redirect::Unstable if tells => format!(
            "Unable to execute command '{}' in script because undeclared keys were accessed during rehashing of the slot",
            spec.name
        ),
        _ => format!("{script} attempted to access a non local key in a cluster node"),
    }
}
