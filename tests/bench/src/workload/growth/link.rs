//! A connection that says how long the server took.

use dlock::{
    __internals::{Message, Op, Reply, Script, decode, encode_plain, lock_key, script_source},
    LockKey,
};
use redis::{
    AsyncConnectionConfig, Cmd, FromRedisValue, PushInfo, PushKind, Value,
    aio::MultiplexedConnection, cmd, from_redis_value,
};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::ask;
use crate::{
    server::{Commands, Site},
    system::connection,
};

/// How many commands are sent at a time.
const BATCH: usize = 200;

/// An answer, and how long the server took for it, in us.
#[derive(Debug)]
pub(super) struct Timed {
    pub(super) reply: Reply,
    pub(super) usec: f64,
}

/// Asks about one lock, and hears what its waiters are told.
pub(super) struct Link {
    connection: MultiplexedConnection,
    heard: UnboundedReceiver<PushInfo>,
    digests: Vec<(Script, String)>,
    key: LockKey,
}

impl Link {
    pub(super) async fn new(site: &Site) -> Self {
        let (sender, heard) = unbounded_channel();
        // What waiters are told comes on the same connection, so that it is there when a later answer is.
        let url = format!("{}?protocol=resp3", site.setup(ask::LASTING).url);
        let config = AsyncConnectionConfig::new().set_push_sender(sender);
        let mut link = Self {
            connection: connection(&url, config).await,
            heard,
            digests: Vec::new(),
            key: lock_key("bench", "growth").expect("a valid name"),
        };
        link.connection.psubscribe("*").await.expect("it may");
        for script in Script::ALL {
            let mut load = cmd("SCRIPT");
            load.arg("LOAD").arg(script_source(script));
            let digest = link.send(&[load]).await.remove(0);
            link.digests.push((script, converted(digest)));
        }
        // The statistics are read very often, and shorter like this.
        link.send(&[cmd("CONFIG").arg("RESETSTAT").clone()]).await;
        link
    }

    /// Removes the lock, and what was told about it.
    pub(super) async fn clear(&mut self) {
        self.send(&[cmd("FLUSHALL")]).await;
        self.messages();
    }

    /// What waiters were told since this was asked before.
    pub(super) fn messages(&mut self) -> Vec<Message> {
        let mut messages = Vec::new();
        while let Ok(push) = self.heard.try_recv() {
            if push.kind == PushKind::PMessage {
                let text = push.data.into_iter().next_back().expect("a message");
                let text: String = converted(text);
                messages.push(Message::parse(&text).expect("a message of ours"));
            }
        }
        messages
    }

    /// Carries operations out.
    pub(super) async fn run(&mut self, ops: &[Op]) -> Vec<Reply> {
        let commands: Vec<Cmd> = ops.iter().map(|op| self.script(op)).collect();
        let answers = self.send(&commands).await;
        let pairs = ops.iter().zip(answers);
        pairs.map(|(op, answer)| read(op, &answer)).collect()
    }

    /// Carries out one operation.
    pub(super) async fn time_one(&mut self, op: Op) -> Timed {
        self.time(&[op]).await.remove(0)
    }

    /// Carries out operations of one kind, as clients do: where a command might do, they try it first.
    pub(super) async fn time(&mut self, ops: &[Op]) -> Vec<Timed> {
        let mut timed: Vec<(Option<Reply>, f64)> = ops.iter().map(|_| (None, 0.0)).collect();
        let plain = ops.iter().enumerate();
        let plain = plain.filter_map(|(index, op)| Some((index, encode_plain(&self.key, op)?)));
        let (indices, commands): (Vec<_>, Vec<_>) = plain.unzip();
        let answers = self.send_timed(&commands, "hdel").await;
        for (index, (answer, usec)) in indices.into_iter().zip(answers) {
            let found = answer != Value::Int(0);
            timed[index] = (found.then(|| read(&ops[index], &answer)), usec);
        }
        let left: Vec<usize> = (0..ops.len()).filter(|n| timed[*n].0.is_none()).collect();
        let commands: Vec<Cmd> = left.iter().map(|index| self.script(&ops[*index])).collect();
        let answers = self.send_timed(&commands, "evalsha").await;
        for (index, (answer, usec)) in left.into_iter().zip(answers) {
            timed[index].0 = Some(read(&ops[index], &answer));
            timed[index].1 += usec;
        }
        let timed = timed.into_iter().map(|(reply, usec)| Timed {
            reply: reply.expect("all are answered"),
            usec,
        });
        timed.collect()
    }

    fn script(&self, op: &Op) -> Cmd {
        let script = Script::of(self.key.kind(), op);
        let mut digests = self.digests.iter();
        let (_, digest) = digests
            .find(|(of, _)| *of == script)
            .expect("all scripts are loaded");
        ask::evalsha(digest, &self.key, op)
    }

    /// Sends commands of the name `name`, and lets the server count the microseconds of each.
    async fn send_timed(&mut self, commands: &[Cmd], name: &str) -> Vec<(Value, f64)> {
        if commands.is_empty() {
            return Vec::new();
        }
        let info = cmd("INFO").arg("commandstats").clone();
        let mut interleaved = vec![info.clone()];
        for command in commands {
            interleaved.extend([command.clone(), info.clone()]);
        }
        let mut answers = self.send(&interleaved).await.into_iter();
        let mut next = || answers.next().expect("an answer to each");
        let mut before = counted(next());
        let timed = commands.iter().map(|_| {
            let (answer, after) = (next(), counted(next()));
            let usec = after.since(&before).usec_per_call(name);
            before = after;
            (answer, usec)
        });
        timed.collect()
    }

    async fn send(&mut self, commands: &[Cmd]) -> Vec<Value> {
        let mut answers = Vec::with_capacity(commands.len());
        for batch in commands.chunks(BATCH) {
            let mut pipeline = redis::pipe();
            for command in batch {
                pipeline.add_command(command.clone());
            }
            let sent = pipeline.query_async::<Vec<Value>>(&mut self.connection);
            answers.extend(sent.await.expect("the server carries it out"));
        }
        answers
    }
}

fn read(op: &Op, answer: &Value) -> Reply {
    decode(op, answer).unwrap_or_else(|| panic!("{op:?} was answered {answer:?}"))
}

fn converted<T: FromRedisValue>(value: Value) -> T {
    from_redis_value(value).expect("the server answers as it always does")
}

fn counted(info: Value) -> Commands {
    Commands::from_iter([converted(info)])
}
