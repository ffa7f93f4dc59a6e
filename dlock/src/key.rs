//! Lock names, what they may be, the keys made of them, and maps by key. A leaf: any room may call.

use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasher, BuildHasherDefault, Hasher};
use std::sync::{Arc, LazyLock};

use crate::error::{Error, ErrorKind, Quoted};
use crate::kind::LockKind;
use crate::random::Hashing;
use crate::slot::{Slot, hash_tag};

/// A checked lock name with its key and slot.
///
/// The name `order:42` of a read/write lock becomes the key `dlock:{order:42}`, so that everything of one lock shares a
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
    /// The key of the hash: all of a read/write lock, and what dlock keeps beside a mutex.
    record: Arc<str>,
    prefix_len: u16,
    wrapped: bool,
    /// Whether the braces of a mutex' name put it into another slot than any hash beside it.
    apart: bool,
    kind: LockKind,
    slot: Slot,
    hash: u64,
}

impl LockKey {
    /// Checks `name` and puts it under `prefix`, which must have passed [`check_prefix`].
    pub(crate) fn new(prefix: &str, name: &str) -> Result<Self, Error> {
        let tag = check_name(name)?;
        if tag.is_none() && has_brace(name) {
            return Err(refused(
                name,
                "has a brace but no hash tag; write a non-empty `{tag}`, or leave the braces out",
            ));
        }
        Self::of_kind(LockKind::Rw, prefix, name, tag)
    }

    /// The key of a mutex, which is its name.
    pub(crate) fn mutex(kind: LockKind, prefix: &str, name: &str) -> Result<Self, Error> {
        let key = Self::of_kind(kind, prefix, name, check_name(name)?)?;
        if key.apart && kind.has_tokens() {
            return Err(refused(
                name,
                "has braces that keep its token out of its slot; write a non-empty `{tag}`, or leave the braces out",
            ));
        }
        Ok(key)
    }

    fn of_kind(kind: LockKind, prefix: &str, name: &str, tag: Option<&str>) -> Result<Self, Error> {
        let wrapped = tag.is_none();
        let mut record = String::with_capacity(prefix.len() + name.len() + 5);
        record.push_str(prefix);
        record.push_str(kind.features().separator);
        record.push_str(if wrapped {
            "{"
        } else {
            kind.features().own_braces
        });
        record.push_str(name);
        record.push_str(if wrapped { "}" } else { "" });
        let prefix_len = u16::try_from(prefix.len())
            .map_err(|_| Error::new(ErrorKind::InvalidConfig, "the prefix is too long"))?;
        let slot = Slot::of_tag(tag.unwrap_or(name));
        Ok(Self {
            hash: hash_of(&record),
            prefix_len,
            wrapped,
            apart: wrapped && has_brace(name) && Slot::of(&record) != slot,
            kind,
            slot,
            record: record.into(),
        })
    }

    /// What the hashes of all locks of a kind start with.
    pub(crate) fn stem(kind: LockKind, prefix: &str) -> String {
        [prefix, kind.features().separator].concat()
    }

    /// Reads what [`record`](Self::record) writes; `None` if it is no lock of this kind under this prefix.
    pub(crate) fn read(kind: LockKind, prefix: &str, text: &str) -> Option<Self> {
        let features = kind.features();
        let make = |name: &str| {
            let key = if features.is_string {
                Self::mutex(kind, prefix, name)
            } else {
                Self::new(prefix, name)
            };
            key.ok().filter(|key| key.record() == text)
        };
        let tagged = text
            .strip_prefix(prefix)?
            .strip_prefix(features.separator)?;
        let inner = tagged.strip_prefix('{').and_then(|t| t.strip_suffix('}'));
        let bare = || tagged.strip_prefix(features.own_braces).and_then(make);
        inner.and_then(make).or_else(bare)
    }

    /// The lock's key on the server: that of its hash, or of a mutex' string, which is its name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        if self.kind.features().is_string {
            self.name()
        } else {
            &self.record
        }
    }

    /// What kind of lock it is.
    #[must_use]
    pub fn kind(&self) -> LockKind {
        self.kind
    }

    /// The key of the hash: of a read/write lock, or beside a mutex.
    pub(crate) fn record(&self) -> &str {
        &self.record
    }

    /// Whether a mutex can have no hash beside it, as the two would be in different slots.
    pub(crate) fn is_apart(&self) -> bool {
        self.apart
    }

    /// The lock's name as the caller gave it.
    #[must_use]
    pub fn name(&self) -> &str {
        let tagged = self.tagged();
        if self.wrapped {
            &tagged[1..tagged.len() - 1]
        } else {
            &tagged[self.kind.features().own_braces.len()..]
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
        &self.record[..usize::from(self.prefix_len)]
    }

    /// What follows the prefix in the key of the hash, and in channels.
    pub(crate) fn suffix(&self) -> &str {
        &self.record[usize::from(self.prefix_len)..]
    }

    /// The name with its hash tag.
    pub(crate) fn tagged(&self) -> &str {
        &self.suffix()[self.kind.features().separator.len()..]
    }
}

/// Two keys are equal if they are one lock on the server: a mutex with tokens and one without are the same lock.
impl PartialEq for LockKey {
    fn eq(&self, other: &Self) -> bool {
        self.hash == other.hash && self.record == other.record
    }
}

impl Eq for LockKey {}

impl std::hash::Hash for LockKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

impl fmt::Debug for LockKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LockKey").field(&self.as_str()).finish()
    }
}

impl fmt::Display for LockKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Looks at bytes, which is faster than looking at characters.
fn has_brace(name: &str) -> bool {
    name.bytes().any(|byte| matches!(byte, b'{' | b'}'))
}

/// The longest lock name, in bytes.
pub const MAX_NAME_BYTES: usize = 512;

/// The hash tag of the name; `None` if it needs to be wrapped in braces to become one.
fn check_name(name: &str) -> Result<Option<&str>, Error> {
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

fn refused(name: &str, why: &str) -> Error {
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

/// A map by lock key. A key is hashed once, when it is made, with a secret of this process, because names
/// come from users; the map takes that hash as it is.
pub(crate) type KeyMap<V> = HashMap<LockKey, V, BuildHasherDefault<KeyHasher>>;

/// The hash of a key's text.
fn hash_of(text: &str) -> u64 {
    static SECRET: LazyLock<Hashing> = LazyLock::new(Hashing::default);
    SECRET.hash_one(text)
}

/// Passes on the hash that a key brings.
#[derive(Debug, Default)]
pub(crate) struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        // Keys write their hash alone; anything else is still hashed, if not well.
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

#[cfg(test)]
mod tests {
    use super::{LockKey, check_prefix};
    use crate::kind::LockKind;
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
            let read = LockKey::read(LockKind::Rw, "p", key.as_str()).expect(name);
            assert_eq!((read.as_str(), read.name()), (key.as_str(), name));
        }
        for other in ["q:{a}", "p:a", "p~l:{a}", "p:"] {
            assert_eq!(LockKey::read(LockKind::Rw, "p", other), None, "{other}");
        }
    }

    #[test]
    fn a_mutex_is_the_key_that_others_use_and_its_hash_is_in_the_same_slot() {
        for (name, record) in [
            ("order:42", "p~m:{order:42}"),
            ("{order:42}", "p~m::{order:42}"),
            ("{t:7}:order", "p~m::{t:7}:order"),
            (":{order:42}", "p~m:::{order:42}"),
            ("a{b", "p~m:{a{b}"),
            ("{a{b}", "p~m::{a{b}"),
        ] {
            let key = LockKey::mutex(LockKind::FencedMutex, "p", name).expect(name);
            assert_eq!((key.as_str(), key.record()), (name, record));
            assert_eq!(key.slot(), Slot::of(name), "{name}");
            assert_eq!(key.slot(), Slot::of(record), "{name}");
            assert_eq!(LockKey::read(LockKind::FencedMutex, "p", record), Some(key));
        }
    }

    #[test]
    fn a_mutex_whose_braces_part_it_from_its_token_has_none() {
        for name in ["a}b", "{}x", "}"] {
            let key = LockKey::mutex(LockKind::Mutex, "p", name).expect(name);
            assert_eq!((key.as_str(), key.slot()), (name, Slot::of(name)));
            assert!(key.is_apart());
            assert!(LockKey::mutex(LockKind::FencedMutex, "p", name).is_err());
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
