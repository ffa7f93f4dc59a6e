//! Lock names and the keys made of them.

use std::fmt;
use std::sync::Arc;

use super::map::hash_of;
use crate::error::{Error, ErrorKind, Quoted};
use crate::slot::{Slot, hash_tag};

/// The longest lock name, in bytes.
pub const MAX_NAME_BYTES: usize = 512;

/// A checked lock name with its key and slot.
///
/// The name `order:42` becomes the key `dlock:{order:42}`, so that everything of one lock shares a
/// slot. A name that brings a hash tag keeps it: `{tenant:7}:order:1` becomes
/// `dlock:{tenant:7}:order:1`, next to the tenant's data. (So `a` and `{a}` name the same lock.)
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), dlock::Error> {
/// let client = dlock::Client::connect("memory://").await?;
/// let lock = client.rw_lock("{tenant:7}:order:1")?;
/// assert_eq!(lock.key().as_str(), "dlock:{tenant:7}:order:1");
/// assert_eq!(lock.key().slot(), dlock::Slot::of("tenant:7"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct LockKey {
    text: Arc<str>,
    prefix_len: u16,
    wrapped: bool,
    slot: Slot,
    hash: u64,
}

impl LockKey {
    /// Checks `name` and puts it under `prefix`, which must have passed [`check_prefix`].
    pub(crate) fn new(prefix: &str, name: &str) -> Result<Self, Error> {
        let tag = check_name(name)?;
        let wrapped = tag.is_none();
        let mut text = String::with_capacity(prefix.len() + name.len() + 3);
        text.push_str(prefix);
        text.push_str(if wrapped { ":{" } else { ":" });
        text.push_str(name);
        text.push_str(if wrapped { "}" } else { "" });
        let prefix_len = u16::try_from(prefix.len())
            .map_err(|_| Error::new(ErrorKind::InvalidConfig, "the prefix is too long"))?;
        Ok(Self {
            hash: hash_of(&text),
            text: text.into(),
            prefix_len,
            wrapped,
            slot: Slot::of_tag(tag.unwrap_or(name)),
        })
    }

    /// Reads what [`as_str`](Self::as_str) writes; `None` if it is no lock under this prefix.
    pub(crate) fn read(prefix: &str, text: &str) -> Option<Self> {
        let tagged = text.strip_prefix(prefix)?.strip_prefix(':')?;
        let inner = tagged.strip_prefix('{').and_then(|t| t.strip_suffix('}'));
        let key = Self::new(prefix, inner.unwrap_or(tagged)).ok();
        let key = key.filter(|key| key.as_str() == text);
        key.or_else(|| Self::new(prefix, tagged).ok())
            .filter(|key| key.as_str() == text)
    }

    /// The key of the lock's hash.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The lock's name as the caller gave it.
    #[must_use]
    pub fn name(&self) -> &str {
        let tagged = self.tagged();
        if self.wrapped {
            &tagged[1..tagged.len() - 1]
        } else {
            tagged
        }
    }

    /// The slot the lock lives in.
    #[must_use]
    pub fn slot(&self) -> Slot {
        self.slot
    }

    /// The hash of the key, which differs from process to process.
    pub(crate) fn hash(&self) -> u64 {
        self.hash
    }

    /// The prefix in front of the name.
    pub(crate) fn prefix(&self) -> &str {
        &self.text[..usize::from(self.prefix_len)]
    }

    /// The name with its hash tag.
    pub(crate) fn tagged(&self) -> &str {
        &self.text[usize::from(self.prefix_len) + 1..]
    }
}

impl PartialEq for LockKey {
    fn eq(&self, other: &Self) -> bool {
        self.hash == other.hash && self.text == other.text
    }
}

impl Eq for LockKey {}

impl std::hash::Hash for LockKey {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

impl fmt::Debug for LockKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LockKey").field(&self.text).finish()
    }
}

impl fmt::Display for LockKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The hash tag of the name; `None` if it needs to be wrapped in braces to become one.
fn check_name(name: &str) -> Result<Option<&str>, Error> {
    let refuse = |why: &str| {
        Err(Error::new(
            ErrorKind::InvalidKey,
            format!("lock name `{}` {why}", Quoted(name)),
        ))
    };
    if name.is_empty() {
        return refuse("is empty; name the thing it guards, such as `order:42`");
    }
    if name.len() > MAX_NAME_BYTES {
        return refuse("is longer than 512 bytes; use an id or a hash of the long part");
    }
    let tag = hash_tag(name);
    if tag.is_none() && name.bytes().any(|byte| matches!(byte, b'{' | b'}')) {
        return refuse(
            "has a brace but no hash tag; write a non-empty `{tag}`, or leave the braces out",
        );
    }
    Ok(tag)
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

#[cfg(test)]
mod tests {
    use super::{LockKey, check_prefix};
    use crate::slot::Slot;

    #[test]
    fn a_name_is_wrapped_unless_it_brings_a_tag() {
        for (name, key) in [
            ("order:42", "p:{order:42}"),
            ("{t:7}:order", "p:{t:7}:order"),
            ("x}{t}", "p:x}{t}"),
        ] {
            let made = LockKey::new("p", name).expect(name);
            assert_eq!((made.as_str(), made.name()), (key, name));
        }
    }

    #[test]
    fn keys_are_read_back() {
        for name in ["order:42", "{t:7}:order", "x}{t}", "{a}:{b}"] {
            let key = LockKey::new("p", name).expect(name);
            let read = LockKey::read("p", key.as_str()).expect(name);
            assert_eq!((read.as_str(), read.name()), (key.as_str(), name));
        }
        for other in ["q:{a}", "p:a", "p~l:{a}", "p:"] {
            assert_eq!(LockKey::read("p", other), None, "{other}");
        }
    }

    #[test]
    fn the_slot_is_that_of_the_tag_alone() {
        let key = LockKey::new("some-prefix", "order:42").expect("valid");
        assert_eq!(key.slot(), Slot::of("order:42"));
    }

    #[test]
    fn names_that_break_the_tag_are_refused() {
        let long = "x".repeat(513);
        for name in ["", "{}", "a{}b", "{a", "a}", "}", &long] {
            assert!(LockKey::new("p", name).is_err(), "{name}");
        }
        let long = "x".repeat(65);
        for prefix in ["", "a{b", "a}", "a~", "a:b", "a*", "a b", "a\n", "ä", &long] {
            assert!(check_prefix(prefix).is_err(), "{prefix}");
        }
        for prefix in ["a", "Shop-1_b.c/d", &long[1..]] {
            assert!(check_prefix(prefix).is_ok(), "{prefix}");
        }
    }
}
