//! The commands that clients send, word by word. Processes of several versions share locks while a service is deployed, so a
//! change here is a change of the protocol.
//!
//! After such a change: `COMMANDS=overwrite cargo test -p dlock-tests --test store commands`, then read the difference.

use std::fmt::Write;
use std::time::Duration;

use dlock::__internals::{
    Extent, HoldId, Keys, Nonce, Op, PlaceTerms, Script, ServerToken, Stray, encode, encode_brief,
    encode_plain, lock_key, mutex_key,
};
use dlock::{LockKey, LockKind, LockMode};
use redis::{Arg, Cmd};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/store/commands.txt");
const LEASE: Duration = Duration::from_millis(1_500);
/// The server's time until which an acquire may take effect.
const VALID_UNTIL: u64 = 1_700_000_000_123_456;
const TOKEN: u64 = 1_699_999_999_000_001;

fn hold() -> HoldId {
    HoldId::parse("pod-7/0123456789abcdef/1f").expect("an id")
}

fn acquires(lease: Duration) -> Vec<(String, Op)> {
    let place = |subscribed| PlaceTerms {
        lease: Duration::from_secs(3),
        subscribed,
        nonce: Nonce::new(55_821_885_743_401_198),
    };
    let places = [
        ("", None),
        (", waits", Some(place(false))),
        (", listens", Some(place(true))),
    ];
    let owners = [("", None), (", with an owner", Some("user 7"))];
    let mut all = Vec::new();
    for mode in [LockMode::Read, LockMode::Write] {
        for (waits, place) in places {
            for (owned, owner) in owners {
                let op = Op::Acquire {
                    hold: hold(),
                    mode,
                    lease,
                    owner: owner.map(Into::into),
                    place,
                };
                all.push((format!("acquire, {mode}{waits}{owned}"), op));
            }
        }
    }
    all
}

fn others(lease: Duration) -> Vec<(String, Op)> {
    let token = ServerToken::new(TOKEN);
    let mut all = vec![
        ("inspect".to_owned(), Op::Inspect),
        (
            "raise".to_owned(),
            Op::Raise {
                hold: hold(),
                token,
            },
        ),
        (
            "renew".to_owned(),
            Op::Renew {
                hold: hold(),
                lease,
                extent: Extent::Longer,
            },
        ),
    ];
    for stray in [Stray::None, Stray::Possible] {
        let hold = hold;
        let extent = Extent::Exactly { stray };
        let ops = [
            Op::Release {
                hold: hold(),
                lease,
                stray,
                spent: None,
            },
            Op::Renew {
                hold: hold(),
                lease,
                extent,
            },
            Op::Abandon {
                hold: hold(),
                stray,
            },
            Op::Yield {
                hold: hold(),
                lease,
                seen: token,
                stray,
                spent: None,
            },
        ];
        all.extend(ops.map(|op| (format!("{}, {stray:?} stray", op.name()), op)));
    }
    all
}

fn words(cmd: &Cmd) -> String {
    let mut line = String::new();
    for argument in cmd.args_iter() {
        let Arg::Simple(word) = argument else {
            panic!("no cursor");
        };
        write!(line, " {:?}", String::from_utf8_lossy(word)).expect("memory");
    }
    line
}

fn table(key: &LockKey, ops: &[(String, Op)]) -> String {
    let mut text = String::new();
    let mut line = |name: &str, form: &str, cmd: &Cmd| {
        writeln!(text, "{name}: {form}{}", words(cmd)).expect("memory");
    };
    for (name, op) in ops {
        if let Some(plain) = encode_plain(key, op) {
            line(name, "plain", &plain);
        }
        if let Some(script) = Script::brief(key.kind(), op) {
            let mut cmd = Cmd::new();
            encode_brief(&mut cmd, key, op);
            line(name, &format!("{script:?}"), &cmd);
        }
        if key.kind() != LockKind::Rw && matches!(op, Op::Yield { .. }) {
            // A mutex is released instead.
            continue;
        }
        let script = Script::of(key.kind(), op);
        let ways: &[_] = if key.kind() == LockKind::Rw {
            &[Keys::All]
        } else {
            &[Keys::All, Keys::First]
        };
        for keys in ways {
            let mut cmd = Cmd::new();
            encode(&mut cmd, key, *keys, op, "S", VALID_UNTIL);
            line(name, &format!("{script:?} {keys:?}"), &cmd);
        }
    }
    text
}

#[test]
fn commands_stay_as_clients_of_other_versions_know_them() {
    let all = [acquires(LEASE), others(LEASE)].concat();
    // Mutexes have neither readers nor owners.
    let is_of_mutex = |(name, _): &&(String, Op)| !name.contains("read") && !name.contains("owner");
    let of_mutex: Vec<_> = all.iter().filter(is_of_mutex).cloned().collect();
    let keys = [
        lock_key("shop", "order:42"),
        mutex_key(LockKind::Mutex, "shop", "order:42"),
        mutex_key(LockKind::FencedMutex, "shop", "order:42"),
    ];
    let mut seen = String::new();
    for key in keys {
        let key = key.expect("a valid name");
        writeln!(seen, "# {:?} {:?}", key.kind(), key.as_str()).expect("memory");
        let ops = if key.kind() == LockKind::Rw {
            &all
        } else {
            &of_mutex
        };
        seen.push_str(&table(&key, ops));
    }
    if std::env::var_os("COMMANDS").is_some_and(|value| value == "overwrite") {
        std::fs::write(FILE, &seen).expect("it can be written");
    }
    for script in Script::ALL {
        let named = format!(": {script:?} ");
        assert!(seen.contains(&named), "no operation sends {script:?}");
    }
    let known = std::fs::read_to_string(FILE).expect("commands.txt");
    for (seen, known) in seen.lines().zip(known.lines()) {
        assert_eq!(seen, known);
    }
    assert_eq!(seen.lines().count(), known.lines().count());
}
