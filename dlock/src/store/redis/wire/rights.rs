//! The rights that a user needs for what is sent, and which one is missing.

use std::fmt;

use redis::ServerError;

use super::listing::escape;
use super::refusal::details;
use super::script::{Script, source};

/// What clients and their scripts send to every server.
const ALWAYS: &str =
    "+eval +evalsha +time +hlen +hget +hmget +hgetall +hset +hdel +pexpire +pexpireat +pttl +ping";

/// What they wake waiters with, and hear it by: where there are sharded channels, and elsewhere.
const SHARDED: &str = "+spublish +ssubscribe +sunsubscribe";
const CLASSIC: &str = "+publish +subscribe +unsubscribe";

/// What mutexes want besides.
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
    /// A command that not everybody needs.
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
    use super::{ALWAYS, CLASSIC, MUTEX, Rule, SHARDED, TRIED, commands};
    use crate::store::redis::wire::script::{Script, source};

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
