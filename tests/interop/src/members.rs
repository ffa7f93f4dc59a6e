//! The servers, which know nothing of one another.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use dlock_tests::{RedisServer, ServerOptions};
use parking_lot::Mutex;

use crate::{answer::Answer, clock::Moment, options::Options, outage::Outage, reader::Reader};

/// How far a server's clock may be from where it is set.
const SLACK: Duration = Duration::from_secs(60);

/// One of them.
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) server: RedisServer,
    reader: Reader,
    /// How far its clock is ahead.
    ahead: Duration,
    /// Since when it is dead or frozen.
    down: Mutex<Option<Moment>>,
}

/// Starts them; the clock of the first is ahead if the options say so.
pub(crate) async fn start(options: &Options) -> Vec<Member> {
    let mut members = Vec::new();
    for number in 0..options.quorum.unwrap_or(1) {
        let ahead = options.ahead.filter(|_| number == 0);
        members.push(Member::start(options, ahead).await);
    }
    members
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

    /// Kills or freezes the server.
    pub(crate) fn fail(&self, outage: Outage) {
        match outage {
            Outage::Killed => self.server.kill(),
            Outage::Frozen => self.server.pause(),
        }
        *self.down.lock() = Some(Moment::now());
    }

    /// Starts a killed server again, empty, or lets a frozen server continue.
    pub(crate) async fn bring_back(&self) {
        *self.down.lock() = None;
        if self.server.has_ended() {
            self.server.restart().await;
            self.check_clock().await;
        } else {
            self.server.resume();
        }
    }

    /// The keys that never expire.
    pub(crate) async fn lasting(&self) -> Vec<String> {
        let mut lasting = Vec::new();
        for key in self.server.query::<Vec<String>>(&["KEYS", "*"]).await {
            if self.server.query::<i64>(&["PTTL", &key]).await == -1 {
                lasting.push(key);
            }
        }
        lasting
    }

    /// What the server says of the key.
    pub(crate) async fn ask(&self, key: &str) -> Answer {
        let down = *self.down.lock();
        if down.is_some() {
            return Answer::Silent(down);
        }
        match self.reader.get(key).await {
            Ok(Some(value)) => Answer::Says(value),
            Ok(None) => Answer::Nothing,
            Err(_) => Answer::Silent(*self.down.lock()),
        }
    }

    /// Panics unless the clock of the server shows what it has to.
    async fn check_clock(&self) {
        let (shown, _): (u64, u64) = self.server.query(&["TIME"]).await;
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let wanted = now.expect("it is after 1970") + self.ahead;
        let off = Duration::from_secs(shown).abs_diff(wanted);
        let (port, wanted) = (self.server.port(), wanted.as_secs());
        assert!(
            off < SLACK,
            "the clock of the server on port {port} shows {shown}, not {wanted}"
        );
    }
}
