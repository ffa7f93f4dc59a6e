//! What a server checks before it runs a client's command, in its order: `processCommand` of each version.

use super::number::integer;
use super::table::{Keys, Spec, find};
use super::unknown::{unknown, unknown_subcommand};
use super::{Call, Caller, FULL, NO_REPLICAS, READ_ONLY};
use crate::server::cluster::{Redirect, Wish, slot_of};
use crate::server::config::Flavour;
use crate::server::fleet::ConnId;
use crate::server::node::Node;
use crate::server::resp::Reply;

/// What subscribers that speak RESP2 may still ask.
const IN_RESP2: [&str; 7] = [
    "ping",
    "subscribe",
    "ssubscribe",
    "unsubscribe",
    "sunsubscribe",
    "quit",
    "reset",
];

impl Node {
    /// A client's request.
    pub(in super::super) fn request(&mut self, conn: ConnId, args: &[&[u8]]) -> Reply {
        let Some(state) = self.conns.get_mut(&conn) else {
            return Reply::Null;
        };
        let caller = Caller {
            conn,
            asking: std::mem::take(&mut state.asking),
            readonly: state.readonly,
            resp3: state.resp3,
            in_script: false,
        };
        match self.check(caller, args) {
            Ok(spec) => (spec.run)(self, &Call { caller, spec, args }),
            Err(refusal) => refusal,
        }
    }

    fn check(&mut self, caller: Caller, args: &[&[u8]]) -> Result<&'static Spec, Reply> {
        let flavour = self.flavour;
        let refuse = |line: &'static str| Err(Reply::error(line));
        let Some(spec) = find(args[0], flavour) else {
            return Err(unknown(flavour, args));
        };
        if !spec.fits(args.len(), flavour) {
            return Err(wrong_arity(spec.name));
        }
        // Redis 6.2 looks at it once it runs the command.
        if flavour != Flavour::Redis62 && spec.lacks(args) {
            return Err(unknown_subcommand(flavour, args));
        }
        if self.cluster.is_some()
            && spec.keys != Keys::None
            && let Some(redirect) = self.redirect(caller, spec, args, None)
        {
            return Err(Reply::error(redirect.line(&self.config)));
        }
        if self.full && spec.wants_memory() && !self.is_replica() {
            return refuse(FULL);
        }
        if spec.writes() && self.lacks_replicas() {
            return refuse(NO_REPLICAS);
        }
        if spec.writes() && self.is_replica() {
            return refuse(READ_ONLY);
        }
        if !caller.resp3
            && !IN_RESP2.contains(&spec.name)
            && self.conns[&caller.conn].is_subscriber()
        {
            return Err(Reply::error(not_for_subscribers(flavour, spec.name)));
        }
        if self.loading && !spec.runs_while_loading(flavour, args) {
            return Err(Reply::error(loading(flavour)));
        }
        Ok(spec)
    }

    /// Where a command is to go, unless it is served here. `within` is the only slot whose keys are seen, if there is
    /// such.
    pub(in super::super) fn redirect(
        &self,
        caller: Caller,
        spec: &Spec,
        args: &[&[u8]],
        within: Option<u16>,
    ) -> Option<Redirect> {
        let view = self.cluster.as_ref()?;
        let wish = Wish {
            keys: keys(spec, args),
            channels: spec.is_about_channels(self.flavour),
            writes: spec.writes(),
            asking: caller.asking,
            readonly: caller.readonly,
        };
        let sees = |key: &[u8]| within.is_none_or(|slot| slot == slot_of(key));
        view.redirect(self.flavour, wish, |key| sees(key) && self.has(key))
    }

    /// Whether too few replicas are there for a master to write.
    pub(in super::super) fn lacks_replicas(&self) -> bool {
        self.min_replicas > 0 && !self.is_replica() && self.good_replicas() < self.min_replicas
    }
}

/// The keys of a command, or its sharded channels.
pub(in super::super) fn keys<'a>(spec: &Spec, args: &'a [&'a [u8]]) -> &'a [&'a [u8]] {
    match spec.keys {
        Keys::None => &[],
        Keys::First | Keys::Channel => &args[1..2],
        Keys::All | Keys::Channels => &args[1..],
        Keys::Counted => {
            let count = integer(args[2]).and_then(|count| usize::try_from(count).ok());
            count
                .and_then(|count| args.get(3..3 + count))
                .unwrap_or_default()
        }
    }
}

pub(super) fn wrong_arity(name: &str) -> Reply {
    Reply::error(format!(
        "ERR wrong number of arguments for '{name}' command"
    ))
}

fn loading(flavour: Flavour) -> &'static str {
    match flavour {
        Flavour::Valkey81 => "LOADING Valkey is loading the dataset in memory",
        _ => "LOADING Redis is loading the dataset in memory",
    }
}

fn not_for_subscribers(flavour: Flavour, name: &str) -> String {
    let which = match flavour {
        Flavour::Redis62 => "(P)SUBSCRIBE / (P)UNSUBSCRIBE",
        _ => "(P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE",
    };
    format!(
        "ERR Can't execute '{name}': only {which} / PING / QUIT / RESET are allowed in this context"
    )
}
