//! The servers, which know nothing of one another.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use dlock_tests::{RedisServer, ServerOptions};

use crate::{answer::Answer, clock::Moment, options::Options, reader::Reader};

/// How far a server's clock may be from where it is set.
const SLACK: Duration = Duration::from_secs(60);

/// One of them.
#[derive(Debug)]
struct Member {
    server: RedisServer,
    reader: Reader,
    /// How far its clock is ahead.
    ahead: Duration,
    /// Since when it is dead or frozen.
    down: Mutex<Option<Moment>>,
}

/// All of them.
#[derive(Debug)]
pub(crate) struct Members(Vec<Arc<Member>>);

impl Members {
    /// Starts them; the clock of the first is ahead if that is asked for.
    pub(crate) async fn start(options: &Options) -> Self {
        let mut members = Vec::new();
        for number in 0..options.quorum.unwrap_or(1) {
            let ahead = options.ahead.filter(|_| number == 0);
            members.push(Arc::new(Member::start(options, ahead).await));
        }
        Self(members)
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn ports(&self) -> Vec<u16> {
        self.0.iter().map(|member| member.server.port()).collect()
    }

    /// What they say of the key.
    pub(crate) async fn ask(&self, key: &'static str) -> Vec<Answer> {
        let asked = self.0.iter().map(|member| {
            let member = Arc::clone(member);
            tokio::spawn(async move { member.ask(key).await })
        });
        let asked: Vec<_> = asked.collect();
        let mut answers = Vec::new();
        for answer in asked {
            answers.push(answer.await.expect("asking does not panic"));
        }
        answers
    }

    /// SIGKILL: it forgets everything.
    pub(crate) fn kill(&self, member: usize) {
        let member = &self.0[member];
        member.server.kill();
        member.set_down(Some(Moment::now()));
    }

    /// SIGSTOP.
    pub(crate) fn freeze(&self, member: usize) {
        let member = &self.0[member];
        member.server.pause();
        member.set_down(Some(Moment::now()));
    }

    /// Lets one that was killed come back empty, and one that was frozen go on.
    pub(crate) async fn bring_back(&self, member: usize) {
        let member = &self.0[member];
        member.set_down(None);
        if member.server.has_ended() {
            member.server.restart().await;
            member.check_clock().await;
        } else {
            member.server.resume();
        }
    }

    /// The keys that stay for good.
    pub(crate) async fn lasting(&self) -> Vec<String> {
        let mut lasting = Vec::new();
        for Member { server, .. } in self.0.iter().map(AsRef::as_ref) {
            for key in server.query::<Vec<String>>(&["KEYS", "*"]).await {
                if server.query::<i64>(&["PTTL", &key]).await == -1 {
                    lasting.push(key);
                }
            }
        }
        lasting
    }
}

impl Member {
    async fn start(options: &Options, ahead: Option<Duration>) -> Self {
        let mut settings = ServerOptions::new();
        if let Some(ahead) = ahead {
            settings = settings
                .variable("AHEAD", ahead.as_secs().to_string())
                .variable("LD_PRELOAD", &options.clock);
        }
        let server = RedisServer::start_with(&settings).await;
        let member = Self {
            reader: Reader::new(server.port()),
            server,
            ahead: ahead.unwrap_or_default(),
            down: Mutex::new(None),
        };
        member.check_clock().await;
        member
    }

    async fn ask(&self, key: &str) -> Answer {
        if let down @ Some(_) = self.down() {
            return Answer::Silent(down);
        }
        match self.reader.get(key).await {
            Ok(Some(value)) => Answer::Says(value),
            Ok(None) => Answer::Nothing,
            Err(_) => Answer::Silent(self.down()),
        }
    }

    /// Panics unless its clock shows what it has to.
    async fn check_clock(&self) {
        let shown: (u64, u64) = self.server.query(&["TIME"]).await;
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let wanted = now.expect("it is after 1970") + self.ahead;
        let off = Duration::from_secs(shown.0).abs_diff(wanted);
        assert!(
            off < SLACK,
            "the clock of the server on port {} shows {}, not {}",
            self.server.port(),
            shown.0,
            wanted.as_secs()
        );
    }

    fn down(&self) -> Option<Moment> {
        *self.down.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set_down(&self, since: Option<Moment>) {
        *self.down.lock().unwrap_or_else(PoisonError::into_inner) = since;
    }
}
