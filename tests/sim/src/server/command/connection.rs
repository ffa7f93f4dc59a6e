//! Commands about the connection itself.

use super::check::wrong_arity;
use super::number::integer;
use super::unknown::unknown_subcommand;
use super::{Call, NOT_A_NUMBER};
use crate::server::config::Flavour;
use crate::server::node::Node;
use crate::server::resp::Reply;

pub(super) fn ping(node: &mut Node, call: &Call<'_>) -> Reply {
    let said = call.args.get(1);
    let conn = node.conns.get(&call.caller.conn);
    if call.args.len() > 2 {
        return wrong_arity("ping");
    }
    if !call.caller.resp3 && conn.is_some_and(super::super::node::Conn::is_subscriber) {
        let said = said.map_or_else(Vec::new, |said| said.to_vec());
        return Reply::Array(vec![Reply::bulk("pong"), Reply::Bulk(said)]);
    }
    said.map_or(Reply::Status("PONG".into()), Reply::bulk)
}

pub(super) fn echo(_: &mut Node, call: &Call<'_>) -> Reply {
    Reply::bulk(call.args[1])
}

pub(super) fn quit(node: &mut Node, call: &Call<'_>) -> Reply {
    if let Some(conn) = node.conns.get_mut(&call.caller.conn) {
        conn.closing = true;
    }
    Reply::ok()
}

pub(super) fn asking(node: &mut Node, call: &Call<'_>) -> Reply {
    in_cluster(node, call, |conn| conn.asking = true)
}

pub(super) fn readonly(node: &mut Node, call: &Call<'_>) -> Reply {
    // Valkey's single servers have replicas that read as well.
    if node.cluster.is_none() && node.flavour == Flavour::Valkey81 {
        return Reply::ok();
    }
    in_cluster(node, call, |conn| conn.readonly = true)
}

pub(super) fn readwrite(node: &mut Node, call: &Call<'_>) -> Reply {
    if let Some(conn) = own(node, call) {
        conn.readonly = false;
    }
    if node.cluster.is_none() && matches!(node.flavour, Flavour::Redis70 | Flavour::Redis80) {
        return Reply::error(NO_CLUSTER);
    }
    Reply::ok()
}

pub(super) const NO_CLUSTER: &str = "ERR This instance has cluster support disabled";

fn in_cluster(
    node: &mut Node,
    call: &Call<'_>,
    what: impl FnOnce(&mut super::super::node::Conn),
) -> Reply {
    if node.cluster.is_none() {
        return Reply::error(NO_CLUSTER);
    }
    if let Some(conn) = own(node, call) {
        what(conn);
    }
    Reply::ok()
}

/// The connection whose settings a command changes: scripts have none.
fn own<'n>(node: &'n mut Node, call: &Call<'_>) -> Option<&'n mut super::super::node::Conn> {
    let conns = (!call.caller.in_script).then_some(&mut node.conns)?;
    conns.get_mut(&call.caller.conn)
}

/// There are no passwords here: only the user `default` is known, and it has none.
pub(super) fn auth(node: &mut Node, call: &Call<'_>) -> Reply {
    match call.args {
        [_, _] => Reply::error(
            "ERR AUTH <password> called without any password configured for the default user. Are you sure your \
             configuration is correct?",
        ),
        [_, b"default", _] => Reply::ok(),
        [_, _, _] => wrong_password(node, call),
        _ => Reply::error(super::SYNTAX),
    }
}

fn wrong_password(node: &Node, call: &Call<'_>) -> Reply {
    let conn = call.caller.conn;
    // Later servers take a reply that is still to be written for one of a module to this request, and say nothing.
    if node.flavour >= Flavour::Redis80 && node.out.iter().any(|(other, _)| *other == conn) {
        return Reply::Several(Vec::new());
    }
    Reply::error("WRONGPASS invalid username-password pair or user is disabled.")
}

pub(super) fn select(node: &mut Node, call: &Call<'_>) -> Reply {
    match integer(call.args[1]) {
        Some(0) => Reply::ok(),
        Some(_) if node.cluster.is_some() => {
            Reply::error("ERR SELECT is not allowed in cluster mode")
        }
        Some(1..16) => Reply::error("ERR only database 0 is simulated"),
        Some(_) => Reply::error("ERR DB index is out of range"),
        None => Reply::error(NOT_A_NUMBER),
    }
}

/// `HELLO [version [AUTH user password] [SETNAME name]]`.
pub(super) fn hello(node: &mut Node, call: &Call<'_>) -> Reply {
    let mut options = call.args[1..].iter();
    let resp3 = match options.next().map(|version| integer(version)) {
        None => None,
        Some(Some(2)) => Some(false),
        Some(Some(3)) => Some(true),
        Some(Some(_)) => return Reply::error("NOPROTO unsupported protocol version"),
        Some(None) => {
            return Reply::error("ERR Protocol version is not an integer or out of range");
        }
    };
    while let Some(option) = options.next() {
        let left = options.as_slice();
        if option.eq_ignore_ascii_case(b"AUTH") && left.len() >= 2 {
            if left[0] != b"default" {
                return wrong_password(node, call);
            }
            options.nth(1);
        } else if option.eq_ignore_ascii_case(b"SETNAME") && !left.is_empty() {
            if let Some(refusal) = set_name(node, call, left[0]) {
                return refusal;
            }
            options.next();
        } else {
            let option = String::from_utf8_lossy(option);
            return Reply::error(format!("ERR Syntax error in HELLO option '{option}'"));
        }
    }
    let Some(conn) = node.conns.get_mut(&call.caller.conn) else {
        return Reply::Null;
    };
    conn.resp3 = resp3.unwrap_or(conn.resp3);
    let proto = if conn.resp3 { 3 } else { 2 };
    let server = if node.flavour == Flavour::Valkey81 {
        "valkey"
    } else {
        "redis"
    };
    let mode = if node.cluster.is_some() {
        "cluster"
    } else {
        "standalone"
    };
    let role = if node.is_replica() {
        "replica"
    } else {
        "master"
    };
    // One of Redis's own data types comes as a module.
    let modules = match node.flavour {
        Flavour::Redis80 => vec![Reply::Map(vec![
            (Reply::bulk("name"), Reply::bulk("vectorset")),
            (Reply::bulk("ver"), Reply::Int(1)),
            (Reply::bulk("path"), Reply::bulk("")),
            (Reply::bulk("args"), Reply::Array(Vec::new())),
        ])],
        _ => Vec::new(),
    };
    let pair = |name: &str, value| (Reply::bulk(name), value);
    Reply::Map(vec![
        pair("server", Reply::bulk(server)),
        pair("version", Reply::bulk(node.flavour.version())),
        pair("proto", Reply::Int(proto)),
        pair(
            "id",
            Reply::Int(i64::try_from(call.caller.conn.0).unwrap_or(0)),
        ),
        pair("mode", Reply::bulk(mode)),
        pair("role", Reply::bulk(role)),
        pair("modules", Reply::Array(modules)),
    ])
}

fn set_name(node: &mut Node, call: &Call<'_>, name: &[u8]) -> Option<Reply> {
    if name.iter().any(|byte| !(b'!'..=b'~').contains(byte)) {
        return Some(Reply::error(
            "ERR Client names cannot contain spaces, newlines or special characters.",
        ));
    }
    if let Some(conn) = node.conns.get_mut(&call.caller.conn) {
        conn.name = name.to_vec();
    }
    None
}

/// `CLIENT SETNAME | GETNAME | ID | SETINFO`.
pub(super) fn client(node: &mut Node, call: &Call<'_>) -> Reply {
    match (&*call.args[1].to_ascii_uppercase(), &call.args[2..]) {
        (b"SETNAME", [name]) => set_name(node, call, name).unwrap_or_else(Reply::ok),
        (b"GETNAME", []) => match node.conns.get(&call.caller.conn) {
            Some(conn) if !conn.name.is_empty() => Reply::bulk(&conn.name),
            _ => Reply::Null,
        },
        (b"ID", []) => Reply::Int(i64::try_from(call.caller.conn.0).unwrap_or(0)),
        (b"SETINFO", [_, _]) if node.flavour >= Flavour::Redis80 => Reply::ok(),
        _ => unknown_subcommand(node.flavour, call.args),
    }
}
