//! The scripts on a real server, with the time and the ears of a test.

use std::cell::RefCell;
use std::fmt::Write as _;

use dlock::__internals::{Op, Reply, Script, decode, encode, encode_plain, script_source};
use dlock_tests::RedisServer;
use redis::{Connection, Value};

use crate::run::{Run, Sent};

/// One server with the scripts loaded.
pub(crate) struct Lua {
    connection: RefCell<Connection>,
    digests: Vec<(Script, String)>,
}

impl Lua {
    pub(crate) fn on(server: &RedisServer) -> Self {
        let mut connection = redis::Client::open(server.url())
            .and_then(|client| client.get_connection())
            .expect("the server answers");
        let digests = Script::ALL.map(|script| {
            let digest = redis::cmd("SCRIPT")
                .arg("LOAD")
                .arg(on_test_clock(script))
                .query(&mut connection)
                .unwrap_or_else(|error| panic!("{script:?}: {error}"));
            (script, digest)
        });
        Self {
            connection: RefCell::new(connection),
            digests: digests.into(),
        }
    }

    /// Sends all operations of a run; each message is heard by so many.
    fn send(&self, run: &Run, heard: usize) -> Result<Vec<Value>, String> {
        let mut pipeline = redis::pipe();
        for sent in &run.sent {
            let script = Script::of(&sent.op);
            let mut digests = self.digests.iter();
            let (_, digest) = digests
                .find(|(of, _)| *of == script)
                .expect("all scripts are loaded");
            let mut command = redis::cmd("EVALSHA");
            command.arg(digest);
            encode(&mut command, &run.key, &sent.op, "SPUBLISH");
            let plain = encode_plain(&run.key, &sent.op);
            let arguments: Vec<_> = plain.iter().flat_map(redis::Cmd::args_iter).collect();
            let count = arguments.len();
            for argument in arguments {
                if let redis::Arg::Simple(bytes) = argument {
                    command.arg(bytes);
                }
            }
            command.arg(count).arg(heard).arg(sent.time);
            pipeline.add_command(command);
        }
        // Each answer separately: an error says which operation it belongs to.
        let answers: Vec<Value> = pipeline
            .ignore_errors()
            .query(&mut *self.connection.borrow_mut())
            .map_err(|error| error.to_string())?;
        assert_eq!(answers.len(), run.sent.len());
        Ok(answers)
    }

    /// Sends a run while nobody hears what waiters are told. The specification does not know such a
    /// world; the first inconsistent record is returned.
    pub(crate) fn find_inconsistency(&self, run: &Run) -> Result<(), String> {
        let answers = self.send(run, 0)?;
        let mut story = String::new();
        for (sent, answer) in run.sent.iter().zip(answers) {
            writeln!(story, "at {}: {:?}", sent.time, sent.op).expect("text");
            if let Value::ServerError(error) = answer {
                return Err(format!("{story}unheard: {error:?}"));
            }
        }
        Ok(())
    }

    /// Sends all operations of a run, and says where the answers differ first.
    pub(crate) fn find_difference(&self, run: &Run) -> Result<(), String> {
        let answers = self.send(run, 1)?;
        let mut story = String::new();
        for (sent, answer) in run.sent.iter().zip(answers) {
            let expected_told: Vec<String> = sent
                .told
                .iter()
                .map(|message| {
                    let client = message.hold().client().as_str();
                    format!("{}{client} {message}", run.channels)
                })
                .collect();
            let seen = read(sent, &answer);
            if seen.as_ref() != Some(&(sent.reply.clone(), expected_told)) {
                let seen = seen.map_or_else(|| format!("{answer:?}"), |seen| format!("{seen:?}"));
                tell(&mut story, sent);
                return Err(format!("{story}but the script answered {seen}"));
            }
            // An agreed look at the lock says nothing that the other answers do not.
            if sent.op != Op::Inspect {
                tell(&mut story, sent);
            }
        }
        Ok(())
    }
}

fn read(sent: &Sent, answer: &Value) -> Option<(Reply, Vec<String>)> {
    let Value::Array(parts) = answer else {
        return None;
    };
    let [reply, told] = &parts[..] else {
        return None;
    };
    let told = redis::from_redis_value(told.clone()).ok()?;
    Some((decode(&sent.op, reply)?, told))
}

fn tell(story: &mut String, sent: &Sent) {
    let Sent {
        time,
        op,
        reply,
        told,
    } = sent;
    writeln!(story, "at {time}: {op:?}\n  -> {reply:?}, tells {told:?}").expect("text");
}

/// The script, its clock and its wake-ups replaced.
fn on_test_clock(script: Script) -> String {
    let source = script_source(script);
    assert_eq!(source.matches("call('TIME')").count(), 1, "{script:?}");
    let source = source
        .replace("call('TIME')", "test_time()")
        .replace("call('PEXPIRE', ", "test_pexpire(")
        .replace("redis.pcall(publish, ", "test_publish(publish, ");
    // Nothing may be left that reads the server's clock or counts from it, or that publishes.
    for left in [
        "'TIME'",
        "'EXPIRE'",
        "'PEXPIRE'",
        "'SETEX'",
        "'PSETEX'",
        "'EX'",
        "'PX'",
        "pcall",
    ] {
        assert!(!source.contains(left), "{script:?} contains {left}");
    }
    include_str!("harness.lua")
        .replace("the name", &format!("{script:?}"))
        .replace("-- the script\n", &source)
}
