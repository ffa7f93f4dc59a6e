//! Several processes after the same key.

use std::{
    fmt::Write as _,
    process::Stdio,
    time::{Duration, Instant},
};

use rustix::process::{Signal, set_parent_process_death_signal};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    process::{Child, ChildStdin, ChildStdout, Command},
    task::JoinSet,
};

use super::LEASE;
use crate::{
    measure::{Samples, Timer, client_cpu, count},
    results::Row,
    server::{Commands, Site},
    system::{Kind, Mode, Polling, Setup, System, with_system},
};

/// What the processes do.
#[derive(Clone, Copy, Debug)]
pub(super) struct Contest {
    pub(super) kind: Kind,
    pub(super) polling: Polling,
    pub(super) processes: usize,
    pub(super) tasks: usize,
    /// How many of 1000 acquisitions are writes.
    pub(super) writes: u32,
    pub(super) hold: Duration,
    /// Between two acquisitions.
    pub(super) think: Duration,
    pub(super) lasts: Duration,
    pub(super) lease: Duration,
    /// Whose lock it is about.
    pub(super) workload: &'static str,
}

impl Contest {
    /// One process with one task: it writes, releases at once and does not pause.
    pub(super) fn new(kind: Kind, workload: &'static str, lasts: Duration) -> Self {
        Self {
            kind,
            polling: Polling::Tuned,
            processes: 1,
            tasks: 1,
            writes: 1000,
            hold: Duration::ZERO,
            think: Duration::ZERO,
            lasts,
            lease: LEASE,
            workload,
        }
    }

    /// The lock's name.
    pub(super) fn key(&self) -> String {
        self.kind.key(self.workload, "hot")
    }

    /// The arguments of each process, beside the workload and the servers.
    pub(super) fn numbers(&self) -> [String; 7] {
        let as_shipped = u8::from(self.polling == Polling::AsShipped);
        [
            as_shipped.to_string(),
            self.tasks.to_string(),
            self.writes.to_string(),
            self.hold.as_micros().to_string(),
            self.think.as_micros().to_string(),
            self.lasts.as_micros().to_string(),
            self.lease.as_micros().to_string(),
        ]
    }

    /// This program, as one of the processes.
    pub(super) fn command(&self, site: &Site) -> Command {
        let setup = site.setup(self.lease);
        let own = std::env::current_exe().expect("this program has a path");
        let mut command = Command::new(own);
        command
            .args(["child", self.kind.name(), self.workload])
            .args([&setup.url, setup.topology.name()])
            .args(self.numbers());
        command
    }
}

/// What came of it.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// Acquisitions of each process within the time.
    pub(super) shares: Vec<usize>,
    /// Waits in us.
    pub(super) writes: Samples,
    pub(super) reads: Samples,
    /// Measured holds in us.
    pub(super) holds: Samples,
    pub(super) client_cpu: f64,
    pub(super) server_cpu: f64,
    pub(super) commands: Commands,
}

impl Outcome {
    /// The acquisitions per second.
    pub(super) fn rate(&self, contest: &Contest) -> f64 {
        count(self.shares.iter().sum()) / contest.lasts.as_secs_f64()
    }

    /// Reports how long the writers waited.
    pub(super) fn add_waits(&self, row: &mut Row<'_>) {
        row.add_waits(["wait p50", "wait p99", "wait max"], &self.writes);
    }

    /// Reports how evenly the processes shared the lock.
    pub(super) fn add_shares(&self, row: &mut Row<'_>) {
        row.add_extremes(["fewest of a process", "most of a process"], &self.shares);
    }

    /// Reports the CPU time of an acquisition; all of them are writes.
    pub(super) fn add_cpu(&self, row: &mut Row<'_>) {
        let cpu = |seconds| seconds * 1e6 / count(self.writes.len());
        row.add("client CPU", "us/acquisition", cpu(self.client_cpu));
        row.add("server CPU", "us/acquisition", cpu(self.server_cpu));
    }
}

/// One of the processes, while it runs.
pub(super) struct Contender {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Contender {
    /// Starts a process and waits until it is connected.
    pub(super) async fn start(contest: &Contest, site: &Site) -> Self {
        Self::spawn(contest.command(site)).await
    }

    /// The same, with the program of another language.
    async fn spawn(mut command: Command) -> Self {
        let mut process = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("the program starts");
        let input = process.stdin.take().expect("it is piped");
        let output = process.stdout.take().expect("it is piped");
        let mut contender = Self {
            process,
            input,
            output: BufReader::new(output),
        };
        assert_eq!(contender.line().await, "ready", "the process connects");
        contender
    }

    /// Lets it begin.
    pub(super) async fn go(&mut self) {
        let told = self.input.write_all(b"go\n").await;
        told.expect("the process listens");
    }

    /// The next line that it prints.
    pub(super) async fn line(&mut self) -> String {
        let mut line = String::new();
        let read = self.output.read_line(&mut line).await;
        read.expect("the process prints");
        line.trim_end().to_owned()
    }

    /// Kills it (SIGKILL).
    pub(super) async fn kill(&mut self) {
        self.process.kill().await.expect("it can be killed");
    }

    /// Waits for its end and adds what it measured.
    pub(super) async fn finish(mut self, outcome: &mut Outcome) {
        let mut text = String::new();
        let read = self.output.read_to_string(&mut text).await;
        read.expect("the process prints");
        let status = self.process.wait().await.expect("the process ends");
        assert!(status.success(), "the process fails: {status}");
        let last = text.lines().last().unwrap_or_default();
        assert!(
            last.starts_with("cpu ") && text.ends_with('\n'),
            "what it prints is cut off at {last:?}"
        );
        let mut share = 0;
        for line in text.lines() {
            let (what, value) = line.split_once(' ').expect("a name and a number");
            let value: f64 = value.parse().expect("a number");
            match what {
                "write" => outcome.writes.add(value),
                "read" => outcome.reads.add(value),
                "hold" => outcome.holds.add(value),
                "in-time" => share += 1,
                "cpu" => outcome.client_cpu += value / 1e6,
                other => panic!("a process of ours printed {other}"),
            }
        }
        outcome.shares.push(share);
    }
}

/// All processes of a contest.
pub(super) struct Contenders(Vec<Contender>);

impl Contenders {
    /// Starts them with a program that keeps to what [`run_child`] does.
    pub(super) async fn start(processes: usize, command: impl Fn() -> Command) -> Self {
        let mut contenders = Vec::new();
        for _ in 0..processes {
            contenders.push(Contender::spawn(command()).await);
        }
        Self(contenders)
    }

    pub(super) async fn go(&mut self) {
        for contender in &mut self.0 {
            contender.go().await;
        }
    }

    pub(super) async fn finish(self) -> Outcome {
        let mut outcome = Outcome::default();
        for contender in self.0 {
            contender.finish(&mut outcome).await;
        }
        outcome
    }
}

/// Runs the contest.
pub(super) async fn run(contest: &Contest, site: &Site) -> Outcome {
    run_programs(contest.processes, || contest.command(site), site).await
}

/// A contest with another program that follows [`run_child`].
pub(super) async fn run_programs(
    processes: usize,
    command: impl Fn() -> Command,
    site: &Site,
) -> Outcome {
    let mut contenders = Contenders::start(processes, command).await;
    let (cpu, commands) = (site.cpu().await, site.commands().await);
    contenders.go().await;
    let mut outcome = contenders.finish().await;
    outcome.server_cpu = site.cpu().await - cpu;
    outcome.commands = site.commands().await.since(&commands);
    site.flush().await;
    outcome
}

/// What a started process does: `child SYSTEM WORKLOAD URL TOPOLOGY` and the numbers.
pub(crate) async fn run_child(arguments: &[String]) {
    let [kind, workload, url, topology, numbers @ ..] = arguments else {
        panic!("child SYSTEM WORKLOAD URL TOPOLOGY NUMBERS");
    };
    let kind: Kind = kind.parse().expect("a system");
    let numbers: Vec<u64> = numbers
        .iter()
        .map(|number| number.parse().expect("a number"))
        .collect();
    let [as_shipped, tasks, writes, hold, think, lasts, lease] = numbers[..] else {
        panic!("seven numbers");
    };
    let polling = match as_shipped {
        0 => Polling::Tuned,
        _ => Polling::AsShipped,
    };
    let contest = Contest {
        kind,
        polling,
        processes: 1,
        tasks: usize::try_from(tasks).expect("few tasks"),
        writes: u32::try_from(writes).expect("of a thousand"),
        hold: Duration::from_micros(hold),
        think: Duration::from_micros(think),
        lasts: Duration::from_micros(lasts),
        lease: Duration::from_micros(lease),
        // The process ends with the contest.
        workload: workload.clone().leak(),
    };
    let setup = Setup {
        url: url.clone(),
        topology: topology.parse().expect("a topology"),
        lease: contest.lease,
        polling: contest.polling,
    };
    let report = with_system!(kind, S => contend::<S>(&contest, &setup).await);
    print!("{report}");
}

async fn contend<S: System>(contest: &Contest, setup: &Setup) -> String {
    // Killed or interrupted, the parent cannot end this process any more.
    set_parent_process_death_signal(Some(Signal::KILL)).expect("Linux does that");
    let system = S::connect(setup).await;
    let timer = Timer::start();
    println!("ready");
    let mut line = String::new();
    let mut input = BufReader::new(tokio::io::stdin());
    input.read_line(&mut line).await.expect("the parent speaks");
    if line != "go\n" {
        return String::new();
    }
    let (start, cpu) = (Instant::now(), client_cpu());
    let mut running = JoinSet::new();
    for _ in 0..contest.tasks {
        let (system, timer, contest) = (system.clone(), timer.clone(), *contest);
        running.spawn(async move { compete(&system, &timer, &contest, start).await });
    }
    let mut report = running.join_all().await.concat();
    let cpu = client_cpu() - cpu;
    let _ = writeln!(report, "cpu {}", cpu * 1e6);
    report
}

async fn compete<S: System>(
    system: &S,
    timer: &Timer,
    contest: &Contest,
    start: Instant,
) -> String {
    let key = contest.key();
    let mut report = String::new();
    while start.elapsed() < contest.lasts {
        let mode = if fastrand::u32(0..1000) < contest.writes {
            Mode::Write
        } else {
            Mode::Read
        };
        let asked = Instant::now();
        let (clock, hold) = (timer.clone(), contest.hold);
        let body = async move {
            let granted = Instant::now();
            clock.sleep(hold).await;
            (granted, granted.elapsed())
        };
        let (granted, lasted) = system.locked(mode, &key, body).await;
        let mode = if mode == Mode::Write { "write" } else { "read" };
        let waited = granted - asked;
        let _ = writeln!(report, "{mode} {}", waited.as_secs_f64() * 1e6);
        let _ = writeln!(report, "hold {}", lasted.as_secs_f64() * 1e6);
        if granted - start < contest.lasts {
            report.push_str("in-time 1\n");
        }
        // Not in step with the slices of others: that would measure the beat of the two.
        timer
            .sleep(contest.think.mul_f64(0.5 + fastrand::f64()))
            .await;
    }
    report
}
