//! `EVAL`, `EVALSHA` and `SCRIPT`.

use std::sync::Arc;

use super::number::integer;
use super::unknown::unknown_subcommand;
use super::{Call, NOT_A_NUMBER};
use crate::server::config::Flavour;
use crate::server::node::Node;
use crate::server::resp::Reply;
use crate::server::script::{Script, compile, run, sha_of};

fn no_script(flavour: Flavour) -> Reply {
    Reply::error(match flavour {
        Flavour::Valkey81 => "NOSCRIPT No matching script.",
        _ => "NOSCRIPT No matching script. Please use EVAL.",
    })
}

type Words<'a> = &'a [&'a [u8]];

/// The keys among the arguments, and the others.
fn split<'a>(call: &Call<'a>) -> Result<(Words<'a>, Words<'a>), Reply> {
    let Some(keys) = integer(call.args[2]) else {
        return Err(Reply::error(NOT_A_NUMBER));
    };
    let rest = &call.args[3..];
    match usize::try_from(keys) {
        Ok(keys) if keys <= rest.len() => Ok(rest.split_at(keys)),
        Ok(_) => Err(Reply::error(
            "ERR Number of keys can't be greater than number of args",
        )),
        Err(_) => Err(Reply::error("ERR Number of keys can't be negative")),
    }
}

pub(super) fn eval(node: &mut Node, call: &Call<'_>) -> Reply {
    let (keys, args) = match split(call) {
        Ok(parts) => parts,
        Err(refusal) => return refusal,
    };
    match known_or_compiled(node, call.args[1]) {
        Ok(script) => run(node, call.caller, &script, keys, args),
        Err(refusal) => refusal,
    }
}

pub(super) fn evalsha(node: &mut Node, call: &Call<'_>) -> Reply {
    let Ok(mut sha) = <[u8; 40]>::try_from(call.args[1]) else {
        return no_script(node.flavour);
    };
    sha.make_ascii_lowercase();
    let (keys, args) = match split(call) {
        Ok(parts) => parts,
        Err(refusal) => return refusal,
    };
    match node.scripts.get(&sha).map(Arc::clone) {
        Some(script) => {
            node.script_calls += 1;
            run(node, call.caller, &script, keys, args)
        }
        None => no_script(node.flavour),
    }
}

fn known_or_compiled(node: &mut Node, text: &[u8]) -> Result<Arc<Script>, Reply> {
    let script = sha_of(text);
    if !node.scripts.contains_key(&script.sha) {
        compile(node.flavour, &script)?;
        node.scripts.insert(script.sha, Arc::clone(&script));
    }
    Ok(script)
}

/// `SCRIPT LOAD | EXISTS | FLUSH`.
pub(super) fn script(node: &mut Node, call: &Call<'_>) -> Reply {
    match (&*call.args[1].to_ascii_uppercase(), &call.args[2..]) {
        (b"LOAD", [text]) => match known_or_compiled(node, text) {
            Ok(script) => Reply::bulk(script.sha),
            Err(refusal) => refusal,
        },
        (b"EXISTS", shas) if !shas.is_empty() => {
            let knows = |sha: &&[u8]| {
                let sha = <[u8; 40]>::try_from(*sha);
                Reply::Int(sha.is_ok_and(|sha| node.scripts.contains_key(&sha)).into())
            };
            Reply::Array(shas.iter().map(knows).collect())
        }
        (b"FLUSH", []) => flush(node),
        (b"FLUSH", [how])
            if how.eq_ignore_ascii_case(b"SYNC") || how.eq_ignore_ascii_case(b"ASYNC") =>
        {
            flush(node)
        }
        (b"FLUSH", _) => Reply::error("ERR SCRIPT FLUSH only support SYNC|ASYNC option"),
        _ => unknown_subcommand(node.flavour, call.args),
    }
}

fn flush(node: &mut Node) -> Reply {
    node.scripts.clear();
    Reply::ok()
}
