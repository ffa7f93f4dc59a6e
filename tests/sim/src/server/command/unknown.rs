//! What a server says to a command that it does not know.

use crate::server::config::Flavour;
use crate::server::resp::Reply;

pub(super) fn unknown(flavour: Flavour, args: &[&[u8]]) -> Reply {
    let (open, close) = if flavour == Flavour::Redis62 {
        ("`", "`, ")
    } else {
        ("'", "' ")
    };
    let mut listed = String::new();
    for arg in &args[1..] {
        if listed.len() >= 128 {
            break;
        }
        let room = arg.len().min(128 - listed.len());
        listed += open;
        listed += &String::from_utf8_lossy(&arg[..room]);
        listed += close;
    }
    let name = String::from_utf8_lossy(args[0]);
    let line = if flavour == Flavour::Redis62 {
        format!("ERR unknown command `{name}`, with args beginning with: {listed}")
    } else {
        let name: String = name.chars().take(128).collect();
        format!("ERR unknown command '{name}', with args beginning with: {listed}")
    };
    Reply::error(line)
}

/// The error for an unknown subcommand, or a wrong number of its arguments.
pub(super) fn unknown_subcommand(flavour: Flavour, args: &[&[u8]]) -> Reply {
    let container = String::from_utf8_lossy(args[0]).to_uppercase();
    let name = String::from_utf8_lossy(args[1]);
    Reply::error(if flavour == Flavour::Redis62 {
        format!(
            "ERR Unknown subcommand or wrong number of arguments for '{name}'. Try {container} HELP."
        )
    } else {
        format!("ERR unknown subcommand '{name}'. Try {container} HELP.")
    })
}
