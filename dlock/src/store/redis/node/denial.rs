//! The errors for refusals that trying again would not help.

use redis::{RedisError, ServerError};

use crate::error::{Error, ErrorKind};
use crate::store::redis::address::Address;
use crate::store::redis::env::RedisOptions;
use crate::store::redis::wire::Said;

/// The error for a refusal that trying again would not help.
pub(crate) fn fatal(
    kind: ErrorKind,
    error: &ServerError,
    at: &Address,
    key: &str,
    options: &RedisOptions,
) -> Error {
    let said = Said(error);
    let message = match kind {
        ErrorKind::Unauthorized => return unauthorized(&said.to_string(), at, options),
        ErrorKind::ForeignKey if error.code() == "DLOCKFOREIGN" => format!(
            "the lock `{key}` on Redis at {at} cannot be used: {}; bring all clients to versions that share a \
             record, or give the locks a prefix of their own",
            error.details().unwrap_or_default()
        ),
        ErrorKind::ForeignKey => format!(
            "the key `{key}` on Redis at {at} is not a lock of this crate ({said}); delete it, or give \
             the locks a prefix of their own"
        ),
        _ => format!("Redis at {at} refused an operation on lock `{key}`: {said}"),
    };
    Error::with_cause(kind, message, error.clone())
}

/// The error for a wrong password or a missing right.
fn unauthorized(said: &str, at: &Address, options: &RedisOptions) -> Error {
    let (user, prefix) = (options.user(), &options.prefix);
    let advice = if said.contains("WRONGPASS") || said.contains("NOAUTH") {
        format!("check the password of user `{user}`")
    } else {
        format!(
            "grant user `{user}`: ACL SETUSER {user} ~{prefix}* resetchannels &{prefix}* +@read +@write +@scripting \
             +@pubsub +@connection +time +cluster|slots +cluster|info"
        )
    };
    Error::new(
        ErrorKind::Unauthorized,
        format!("Redis at {at} denies access ({said}); {advice}"),
    )
}

/// Whether a failed login means that trying again would not help, and the error then.
pub(super) fn login_error(
    error: &RedisError,
    at: &Address,
    options: &RedisOptions,
) -> Option<Error> {
    let text = error.to_string();
    match error.code() {
        Some(code @ ("WRONGPASS" | "NOAUTH" | "NOPERM")) => {
            let said = format!("{code} {}", error.detail().unwrap_or_default());
            Some(unauthorized(&said, at, options))
        }
        _ if text.contains("switch database") => Some(Error::with_cause(
            ErrorKind::InvalidConfig,
            format!(
                "Redis at {at} has no database {} ({text}); leave the `/{}` at the end of the URL out",
                options.database, options.database
            ),
            error.clone(),
        )),
        _ => None,
    }
}
