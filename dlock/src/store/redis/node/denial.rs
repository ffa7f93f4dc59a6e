//! The errors for refusals that trying again would not help.

use redis::{RedisError, ServerError};

use super::server::Node;
use crate::error::{Error, ErrorKind, Quoted};
use crate::store::redis::address::Address;
use crate::store::redis::env::Env;
use crate::store::redis::wire::{Rule, Said, Script, missing_right};

/// The error for a refusal that trying again would not help, of what was asked about `key`, by a script perhaps.
pub(crate) fn fatal(
    kind: ErrorKind,
    error: &ServerError,
    node: &Node,
    key: &str,
    script: Option<Script>,
) -> Error {
    let (said, at) = (Said(error), node.address());
    let mutex = script.is_some_and(Script::is_of_mutex);
    let message = match kind {
        ErrorKind::Unauthorized => {
            let missing = missing_right(error, script);
            let (missing, mutex) = (missing.as_deref(), mutex.then_some(key));
            return unauthorized(&said.to_string(), (missing, mutex), at, node.env());
        }
        ErrorKind::ForeignKey if error.code() == "DLOCKFOREIGN" => format!(
            "the lock `{key}` on Redis at {at} cannot be used: {}; bring all clients to versions that share a \
             record, or give the locks a prefix of their own",
            Quoted(error.details().unwrap_or_default())
        ),
        ErrorKind::ForeignKey if mutex => format!(
            "the key `{key}` on Redis at {at} is not a string, so it cannot be a mutex ({said}); choose another name for the mutex"
        ),
        ErrorKind::ForeignKey => format!(
            "the key `{key}` on Redis at {at} is not a lock of this crate ({said}); delete it, or give \
             the locks a prefix of their own"
        ),
        _ => format!("Redis at {at} refused an operation on lock `{key}`: {said}"),
    };
    Error::with_cause(kind, message, error)
}

/// The error for a wrong password or a missing right, perhaps a known one, perhaps on a mutex.
fn unauthorized(
    said: &str,
    (missing, mutex): (Option<&str>, Option<&str>),
    at: &Address,
    env: &Env,
) -> Error {
    let user = env.options.user();
    let advice = if ["WRONGPASS", "NOAUTH"].iter().any(|no| said.contains(no)) {
        format!("check the password of user `{user}`")
    } else {
        let lacks = missing.map(|command| format!("it may not run `{command}`; "));
        format!(
            "{}{}",
            lacks.unwrap_or_default(),
            what_to_grant(user, missing, mutex, env)
        )
    };
    Error::new(
        ErrorKind::Unauthorized,
        format!("Redis at {at} denies user `{user}` access ({said}); {advice}"),
    )
}

/// What to grant.
fn what_to_grant(user: &str, missing: Option<&str>, mutex: Option<&str>, env: &Env) -> String {
    let sharded = env.known.sharded.get();
    let rule = Rule {
        prefix: &env.options.prefix,
        cluster: *env.known.cluster.get().unwrap_or(&true),
        sharded: *sharded.unwrap_or(&true),
        mutex,
        besides: missing.filter(|command| !command.contains(' ')),
    };
    let classic = match sharded {
        Some(_) => "",
        None => {
            ", and before Redis 7 `publish`, `subscribe` and `unsubscribe` instead of those with an `s` in front"
        }
    };
    format!(
        "grant all that locks need and nothing else (to add it to what the user may do besides, leave `resetkeys`, \
         `resetchannels` and `nocommands` out{classic}): ACL SETUSER {user} {rule}"
    )
}

/// Whether a failed login means that trying again would not help, and the error then.
pub(super) fn login_error(error: &RedisError, at: &Address, env: &Env) -> Option<Error> {
    let database = env.options.database;
    #[cfg(feature = "tls")]
    if let Some(advice) = super::tls::refused_certificate(error) {
        return Some(Error::with_cause(
            ErrorKind::Unauthorized,
            format!(
                "no encrypted connection to Redis at {at} ({}): {advice}",
                Quoted(error)
            ),
            error,
        ));
    }
    match error.code() {
        Some(code @ ("WRONGPASS" | "NOAUTH" | "NOPERM")) => {
            let said = Quoted(format_args!(
                "{code} {}",
                error.detail().unwrap_or_default()
            ));
            Some(unauthorized(&said.to_string(), (None, None), at, env))
        }
        _ if error.to_string().contains("switch database") => {
            let said = error.detail().unwrap_or("without a reason");
            Some(Error::with_cause(
                ErrorKind::InvalidConfig,
                format!(
                    "Redis at {at} refuses database {database} to user `{}` ({}): leave the `/{database}` at the end of the \
                     URL out{}",
                    env.options.user(),
                    Quoted(said),
                    what_else_than_without(said)
                ),
                error,
            ))
        }
        _ => None,
    }
}

/// What to do about a database that a server refuses, by what it says, other than to do without.
fn what_else_than_without(said: &str) -> &'static str {
    if said.contains("cluster mode") {
        "; this cluster has database 0 only (Valkey 9 and later can have more: `cluster-databases`)"
    } else if said.contains("out of range") {
        ", or raise `databases` on the server (`cluster-databases` in a cluster)"
    } else if said.contains("permission") {
        ", or grant `+select`"
    } else {
        ""
    }
}
