//! What a server refuses, and what that excuses.

use dlock_tests::Fault;

/// How long after its last deadline a key may be kept, in microseconds: a minute, and what saves expiries.
pub(crate) const LONGEST_MEMORY: u64 = 71_001_000;

const WRITES: &str = "|HSET|HDEL|PEXPIRE|PEXPIREAT|SET|GETEX|DEL|";
const KEYED: &str =
    "|HSET|HDEL|PEXPIRE|PEXPIREAT|HLEN|HGET|HMGET|HGETALL|SET|GET|GETEX|DEL|EXISTS|PTTL|";

/// The faults that begin with the command of this number.
pub(crate) fn at(number: u64) -> Vec<Fault<'static>> {
    let from_then = |commands, error| Fault {
        from: number,
        to: u64::MAX >> 12,
        commands,
        error,
    };
    let mut faults = vec![
        Fault {
            from: number,
            to: number,
            commands: "|*|",
            error: "ERR this one command is refused",
        },
        from_then("|*|", "ERR the server does nothing any more"),
        // Only commands that may need memory; once a script has written, none is refused any more.
        Fault {
            from: number,
            to: number,
            commands: "|HSET|SET|",
            error: "OOM command not allowed when used memory > 'maxmemory'.",
        },
        from_then(
            WRITES,
            "READONLY You can't write against a read only replica.",
        ),
        from_then(WRITES, "NOREPLICAS Not enough good replicas to write."),
        from_then(
            KEYED,
            "ERR Script attempted to access a non local key in a cluster node",
        ),
    ];
    if number == 1 {
        for denied in [
            "|HSET|",
            "|HDEL|",
            "|PEXPIRE|",
            "|PEXPIREAT|",
            "|SPUBLISH|",
            "|PUBLISH|",
            "|HGETALL|",
            "|HMGET|",
            "|TIME|",
            "|SET|",
            "|GET|",
            "|GETEX|",
            "|DEL|",
            "|EXISTS|",
            "|PTTL|",
        ] {
            faults.push(from_then(
                denied,
                "NOPERM this user has no permissions to run the command",
            ));
        }
    }
    faults
}

/// The one case of a key without expiry: the first acquire of a lock has written the record, and the server refuses
/// both the expiry and the removal of the record. No server stops writing between two commands of a script, and a user
/// who may not do either is told so when connecting.
pub(crate) fn has_no_choice(fault: Option<Fault<'_>>) -> bool {
    let refuses = |fault: Fault<'_>, command: &str| {
        fault.commands == "|*|" || fault.commands.contains(command)
    };
    fault.is_some_and(|fault| {
        fault.to > fault.from && refuses(fault, "|PEXPIRE|") && refuses(fault, "|HDEL|")
    })
}
