//! What names and prefixes may be.

use crate::error::{Error, ErrorKind, Quoted};
use crate::slot::hash_tag;

/// The longest lock name, in bytes.
pub const MAX_NAME_BYTES: usize = 512;

/// The hash tag of the name; `None` if it needs to be wrapped in braces to become one.
pub(super) fn check_name(name: &str) -> Result<Option<&str>, Error> {
    if name.is_empty() {
        return Err(refused(
            name,
            "is empty; name the thing it guards, such as `order:42`",
        ));
    }
    if name.len() > MAX_NAME_BYTES {
        return Err(refused(
            name,
            "is longer than 512 bytes; use an id or a hash of the long part",
        ));
    }
    Ok(hash_tag(name))
}

pub(super) fn refused(name: &str, why: &str) -> Error {
    Error::new(
        ErrorKind::InvalidKey,
        format!("lock name `{}` {why}", Quoted(name)),
    )
}

/// Checks a key prefix: 1 to 64 of the characters that neither end it (`:` before the name, `~` before channels),
/// nor begin a hash tag, nor mean anything in the pattern of an access rule. So no two prefixes have a key in common,
/// and a rule for `shop:*` covers no lock of `shop2`.
pub(crate) fn check_prefix(prefix: &str) -> Result<(), Error> {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'/');
    if prefix.is_empty() || prefix.len() > 64 || !prefix.bytes().all(fits) {
        return Err(Error::new(
            ErrorKind::InvalidConfig,
            format!(
                "prefix `{}` must have 1 to 64 letters (a to z), digits, `-`, `_`, `.` or `/`; for a part of a name, such \
                 as a tenant, write `shop-eu` or `shop.eu`",
                Quoted(prefix)
            ),
        ));
    }
    Ok(())
}
