//! What refusals of servers mean, and which right a user lacks.

use std::fmt;

use redis::{ServerError, Value};

use super::script::{Script, source};
use super::server::escape;
use crate::error::{ErrorKind, Quoted};
use crate::store::redis::address::Address;

/// What a server's refusal asks for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The slot lives elsewhere, and the server may know where.
    Moved(Option<Address>),
    /// This once, ask elsewhere.
    Ask(Option<Address>),
    /// The server needs the script's text.
    NoScript,
    /// A replica answered: the topology has changed.
    ReadOnly,
    /// The keys of the request are at two nodes at the moment.
    Parted,
    /// No server can serve the key at the moment.
    Later,
    /// Trying again would not help.
    Fatal(ErrorKind),
}

/// What a server says that cannot write at the moment, also from inside a script.
const LATER: [&str; 4] = ["NOREPLICAS", "CLUSTERDOWN", "MASTERDOWN", "MISCONF"];

impl Refusal {
    /// Reads a refusal that came from `asked`.
    pub(crate) fn of(error: &ServerError, asked: &Address) -> Self {
        let details = details(error);
        let target = || {
            let (_slot, address) = details.split_once(' ')?;
            Address::of_redirect(address, asked)
        };
        match error.code() {
            "MOVED" => Self::Moved(target()),
            "ASK" => Self::Ask(target()),
            "NOSCRIPT" => Self::NoScript,
            "READONLY" => Self::ReadOnly,
            "TRYAGAIN" => Self::Parted,
            "LOADING" | "BUSY" => Self::Later,
            code if LATER.contains(&code) => Self::Later,
            "WRONGTYPE" | "DLOCKFOREIGN" => Self::Fatal(ErrorKind::ForeignKey),
            "NOPERM" | "NOAUTH" | "WRONGPASS" => Self::Fatal(ErrorKind::Unauthorized),
            // Redis 6.2 wraps what a command inside of a script answers; 7 does so for ACLs.
            _ if details.contains("WRONGTYPE") => Self::Fatal(ErrorKind::ForeignKey),
            _ if details.contains("READONLY") => Self::ReadOnly,
            _ if LATER.iter().any(|code| details.contains(code)) => Self::Later,
            _ if details.contains("ACL failure")
                || details.contains("can't run this command")
                || details.contains("can't access") =>
            {
                Self::Fatal(ErrorKind::Unauthorized)
            }
            _ if details.contains("max number of clients") => Self::Later,
            // A slot that is being moved away under a running script, as Redis and as Valkey put it.
            _ if details.contains("non local key") || details.contains("undeclared keys") => {
                Self::Later
            }
            _ => Self::Fatal(ErrorKind::Server),
        }
    }
}

/// What a server's error says behind its code.
pub(super) fn details(error: &ServerError) -> &str {
    error.details().unwrap_or_default()
}

/// A server's error in its own words, plain and cut.
pub(crate) struct Said<'e>(pub(crate) &'e ServerError);

impl fmt::Display for Said<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(error) = self;
        Quoted(format_args!("{} {}", error.code(), details(error))).fmt(f)
    }
}

/// The answer, unless it is a refusal.
pub(crate) fn unless_refused(answer: Value) -> Result<Value, ServerError> {
    match answer {
        Value::ServerError(error) => Err(error),
        answer => Ok(answer),
    }
}

/// The refusal, if an answer is one.
pub(crate) fn refusal(answer: &Value) -> Option<&ServerError> {
    match answer {
        Value::ServerError(error) => Some(error),
        _ => None,
    }
}

/// Whether the server does not know a command.
pub(super) fn is_unknown(error: &ServerError) -> bool {
    details(error).starts_with("unknown command")
}

/// Whether the same server may do this later: it cannot at the moment, or the slot is only leaving.
pub(crate) fn is_for_later(error: &ServerError) -> bool {
    matches!(error.code(), "ASK" | "TRYAGAIN") || LATER.contains(&error.code())
}

/// Whether the server refuses all clients at the moment, whatever the key.
pub(crate) fn is_of_all(error: &ServerError) -> bool {
    match error.code() {
        "LOADING" | "BUSY" | "READONLY" | "MASTERDOWN" | "NOREPLICAS" | "MISCONF" => true,
        "CLUSTERDOWN" => !details(error).contains("slot not served"),
        _ => false,
    }
}

/// Whether the server does not know a command, or the user may not use it.
pub(crate) fn is_denied(error: &ServerError) -> bool {
    is_unknown(error) || matches!(error.code(), "NOPERM")
}

/// What clients and their scripts send to every server.
const ALWAYS: &str =
    "+eval +evalsha +time +hlen +hget +hmget +hgetall +hset +hdel +pexpire +pexpireat +pttl +ping";

/// What they wake waiters with, and hear it by: where there are sharded channels, and elsewhere.
const SHARDED: &str = "+spublish +ssubscribe +sunsubscribe";
const CLASSIC: &str = "+publish +subscribe +unsubscribe";

/// The commands that mutexes need in addition.
const MUTEX: &str = "+set +get +getex +del";

/// What they find their way in a cluster with.
const CLUSTER: &str = "+cluster|slots +cluster|info +asking";

/// The least that a user has to be allowed, as `ACL SETUSER` takes it behind the user's name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rule<'r> {
    pub(crate) prefix: &'r str,
    pub(crate) cluster: bool,
    /// Whether the servers have sharded channels.
    pub(crate) sharded: bool,
    /// A mutex, whose key has no prefix.
    pub(crate) mutex: Option<&'r str>,
    /// A command that only some clients need.
    pub(crate) besides: Option<&'r str>,
}

impl fmt::Display for Rule<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let prefix = self.prefix;
        let channels = if self.sharded { SHARDED } else { CLASSIC };
        write!(
            f,
            "resetkeys ~{prefix}:* resetchannels &{prefix}~c:* nocommands {ALWAYS} {channels}"
        )?;
        if self.cluster {
            write!(f, " {CLUSTER}")?;
        }
        if let Some(mutex) = self.mutex {
            let mutex = escape(mutex);
            write!(f, " ~{mutex} ~{prefix}~m:* &{prefix}~c~m:* {MUTEX}")?;
        }
        let mutex = self.mutex.map_or("", |_| MUTEX);
        let granted = [ALWAYS, channels, CLUSTER, mutex];
        let granted = granted.iter().flat_map(|rights| rights.split(' '));
        let mut granted = granted.filter(|right| !right.is_empty());
        // Redis 6.2 speaks of `cluster` where it means one of its subcommands.
        let command = |right: &str| right[1..].split('|').next().map(str::to_owned);
        match self.besides {
            Some(besides)
                if granted.all(|right| {
                    right[1..] != *besides && command(right).as_deref() != Some(besides)
                }) =>
            {
                write!(f, " +{besides}")
            }
            _ => Ok(()),
        }
    }
}

/// The command that a user lacks the right to, in lower case, as far as the server says. Redis 6.2 and 7.0 only say on which
/// line of a script it stands; and not even that, or the line of `must`, of what a script only tries.
pub(crate) fn missing_right(error: &ServerError, script: Option<Script>) -> Option<String> {
    let said = details(error);
    if let Some((_, rest)) = said.split_once("run the '") {
        let (command, _) = rest.split_once('\'')?;
        return Some(command.to_ascii_lowercase());
    }
    let script = script.filter(|_| said.contains("can't run this command"))?;
    let Some((_, line)) = said.rsplit_once("user_script:") else {
        return Some(TRIED[0].to_owned());
    };
    let digits = line
        .trim_start()
        .split(|c: char| !c.is_ascii_digit())
        .next()?;
    let number = digits.parse::<usize>().ok()?.checked_sub(1)?;
    let commands: Vec<_> = commands(source(script).lines().nth(number)?).collect();
    Some(if commands.is_empty() {
        TRIED[1].to_owned()
    } else {
        commands.join(" or ")
    })
}

/// What scripts only try, and say nothing of but that it was refused: `acquire.lua` itself, and what all share.
const TRIED: [&str; 2] = ["pexpire", "pexpireat"];

/// What looks like a command, and is an option of one.
const OPTION: &str = "KEEPTTL";

/// The commands on a line of a script.
fn commands(line: &str) -> impl Iterator<Item = String> {
    let words = line.split('\'').skip(1).step_by(2);
    let commands = words.filter(|word| {
        word.len() > 2 && *word != OPTION && word.bytes().all(|byte| byte.is_ascii_uppercase())
    });
    commands.map(str::to_ascii_lowercase)
}

#[cfg(test)]
mod tests {
    use redis::{ServerError, Value};

    use super::{ALWAYS, CLASSIC, MUTEX, Refusal, Rule, SHARDED, TRIED, commands};
    use crate::error::ErrorKind;
    use crate::store::redis::address::Address;
    use crate::store::redis::wire::script::{Script, source};

    fn server_error(line: &str) -> ServerError {
        match redis::parse_redis_value(format!("-{line}\r\n").as_bytes()) {
            Ok(Value::ServerError(error)) => error,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn refusals_of_all_versions_are_understood() {
        let asked = Address::new("h", 1);
        let to = Some(Address::new("10.0.0.2", 7001));
        for (line, refusal) in [
            ("MOVED 3999 10.0.0.2:7001", Refusal::Moved(to.clone())),
            ("MOVED 3999 ?:7001", Refusal::Moved(None)),
            ("ASK 3999 10.0.0.2:7001", Refusal::Ask(to)),
            (
                "NOSCRIPT No matching script. Please use EVAL.",
                Refusal::NoScript,
            ),
            (
                "READONLY You can't write against a read only replica.",
                Refusal::ReadOnly,
            ),
            (
                "TRYAGAIN Multiple keys request during rehashing of slot",
                Refusal::Parted,
            ),
            ("CLUSTERDOWN The cluster is down", Refusal::Later),
            (
                "LOADING Redis is loading the dataset in memory",
                Refusal::Later,
            ),
            ("ERR max number of clients reached", Refusal::Later),
            (
                "WRONGTYPE Operation against a key holding the wrong kind of value script: f, on x",
                Refusal::Fatal(ErrorKind::ForeignKey),
            ),
            (
                "ERR Error running script (call to f_2): @user_script:266: -NOREPLICAS Not enough good replicas",
                Refusal::Later,
            ),
            (
                "ERR Error running script (call to f_2): @user_script:8: WRONGTYPE Operation against",
                Refusal::Fatal(ErrorKind::ForeignKey),
            ),
            (
                "NOPERM this user has no permissions to run the 'evalsha' command",
                Refusal::Fatal(ErrorKind::Unauthorized),
            ),
            (
                "ERR ACL failure in script: User u has no permissions to run the 'hset' command",
                Refusal::Fatal(ErrorKind::Unauthorized),
            ),
            (
                "ERR Unable to execute command 'hset' in script because undeclared keys were accessed during \
                 rehashing of the slot",
                Refusal::Later,
            ),
            (
                "DLOCKFOREIGN this lock was written by another version of dlock",
                Refusal::Fatal(ErrorKind::ForeignKey),
            ),
            ("OOM command not allowed", Refusal::Fatal(ErrorKind::Server)),
        ] {
            assert_eq!(Refusal::of(&server_error(line), &asked), refusal, "{line}");
        }
    }

    #[test]
    fn a_rule_has_what_scripts_use_and_they_use_what_it_has() {
        let mut used: Vec<String> = Script::ALL
            .iter()
            .flat_map(|script| source(*script).lines().flat_map(commands))
            .chain(["eval", "evalsha", "ping"].map(str::to_owned))
            .collect();
        used.sort_unstable();
        used.dedup();
        let rights = |text: &str| {
            text.replace('+', "")
                .split(' ')
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        let mut granted = rights(ALWAYS);
        granted.extend(rights(MUTEX));
        granted.push(rights(SHARDED)[0].clone());
        granted.push(rights(CLASSIC)[0].clone());
        granted.sort_unstable();
        assert_eq!(used, granted);
    }

    #[test]
    fn what_scripts_only_try_is_known_or_tried_again() {
        for script in Script::ALL {
            for line in source(script).lines() {
                for tried in line.split("pcall('").skip(1) {
                    let command = tried.split('\'').next().unwrap_or_default();
                    let command = command.to_ascii_lowercase();
                    // A refused HSET is sent again by `call`.
                    assert!(command == "hset" || TRIED.contains(&&*command), "{line}");
                }
            }
        }
    }

    #[test]
    fn only_what_is_not_granted_yet_is_added() {
        let rule = |besides| {
            let rule = Rule {
                prefix: "shop",
                cluster: true,
                sharded: false,
                mutex: None,
                besides: Some(besides),
            };
            rule.to_string()
        };
        assert!(rule("hset").ends_with(" +cluster|slots +cluster|info +asking"));
        assert_eq!(rule("cluster"), rule("hset"));
        assert_eq!(rule("cluster|slots"), rule("hset"));
        assert_eq!(rule("scan"), rule("hset") + " +scan");
        assert!(
            rule("hset").starts_with("resetkeys ~shop:* resetchannels &shop~c:* nocommands +eval ")
        );
    }
}
