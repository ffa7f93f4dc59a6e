//! The run that the options ask for.

use std::time::Duration;

use crate::plan::{Kind, LockKind, Topology};

const USAGE: &str = "\
Usage: dlock-soak --output FOLDER --seed S --minutes N [--lock rw|mutex|quorum] [--topology single|cluster]
                  [--control plain] [--resume] [--round R] [--until-objection] [--quick] [--parent PID]

scripts/soak --help tells more.
";

/// The options.
#[derive(Debug, Clone)]
pub(crate) struct Options {
    pub(crate) seed: u64,
    pub(crate) lasts: Duration,
    pub(crate) topology: Topology,
    pub(crate) lock: LockKind,
    pub(crate) kind: Kind,
    /// Whether to add to the figures of an earlier run.
    pub(crate) resume: bool,
    /// Only this one.
    pub(crate) round: Option<u64>,
    /// Whether to end as soon as a judge objects.
    pub(crate) until_objection: bool,
    /// Ends with this process, whose child it is.
    pub(crate) parent: Option<i32>,
    /// Whether rounds are short.
    pub(crate) quick: bool,
    /// The folder of figures, and of histories that a checker objected to.
    pub(crate) output: String,
    /// What the servers are called.
    pub(crate) server: String,
}

impl Options {
    /// Or how it is to be used.
    pub(crate) fn parse(words: &[&str]) -> Result<Self, &'static str> {
        Self::read(words).ok_or(USAGE)
    }

    fn read(words: &[&str]) -> Option<Self> {
        let mut options = Self {
            seed: 1,
            lasts: Duration::ZERO,
            topology: Topology::Cluster,
            lock: LockKind::Rw,
            kind: Kind::Dlock,
            resume: false,
            round: None,
            until_objection: false,
            parent: None,
            quick: false,
            output: String::new(),
            server: "redis-server".to_owned(),
        };
        let mut words = words.iter().copied();
        while let Some(word) = words.next() {
            match word {
                "--seed" => options.seed = words.next()?.parse().ok()?,
                "--minutes" => {
                    let minutes: f64 = words
                        .next()?
                        .parse()
                        .ok()
                        .filter(|minutes| *minutes > 0.0)?;
                    options.lasts = Duration::try_from_secs_f64(60.0 * minutes).ok()?;
                }
                "--topology" => {
                    // Which servers a quorum has is no question.
                    options.topology = Topology::parse(words.next()?)
                        .filter(|topology| *topology != Topology::Apart)?;
                }
                "--lock" => options.lock = LockKind::parse(words.next()?)?,
                "--control" => {
                    options.kind =
                        Kind::parse(words.next()?).filter(|kind| *kind != Kind::Dlock)?;
                }
                "--resume" => options.resume = true,
                "--round" => options.round = Some(words.next()?.parse().ok()?),
                "--until-objection" => options.until_objection = true,
                "--parent" => options.parent = Some(words.next()?.parse().ok()?),
                "--quick" => options.quick = true,
                "--output" => words.next()?.clone_into(&mut options.output),
                "--server" => words.next()?.clone_into(&mut options.server),
                _ => return None,
            }
        }
        if options.lock == LockKind::Quorum {
            options.topology = Topology::Apart;
        }
        let comparable = options.kind == Kind::Dlock || options.lock == LockKind::Rw;
        let complete = !options.output.is_empty() && !options.lasts.is_zero();
        (complete && comparable).then_some(options)
    }

    /// What tells this run from others.
    pub(crate) fn name(&self) -> String {
        let Self { server, seed, .. } = self;
        let topology = self.topology.name();
        format!("{}-{server}-{topology}-{seed}", self.system())
    }

    /// The name of the system and the lock.
    pub(crate) fn system(&self) -> String {
        match self.lock {
            LockKind::Rw => self.kind.name().to_owned(),
            lock => format!("{}-{}", self.kind.name(), lock.name()),
        }
    }
}
