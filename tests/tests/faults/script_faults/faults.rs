//! What a server refuses.

use dlock_tests::Fault;

const WRITES: &str = "|HSET|HDEL|PEXPIRE|PEXPIREAT|SET|GETEX|DEL|";
const KEYED: &str =
    "|HSET|HDEL|PEXPIRE|PEXPIREAT|HLEN|HGET|HMGET|HGETALL|SET|GETEX|DEL|EXISTS|PTTL|";

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
