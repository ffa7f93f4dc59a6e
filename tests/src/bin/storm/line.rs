//! Very many waiters on one lock.

use std::time::{Duration, Instant};

use dlock_tests::{Worker, builder, unique_prefix, wait_for};

use super::findings::Findings;
use super::options::Options;
use super::process;
use super::site::Site;

const PROCESSES: usize = 4;
/// Turns of each waiter that count, after a first one.
const ROUNDS: usize = 3;
/// For how long the operating system may keep a process from running: in their processes' lines, all have had their turns in less.
const NOT_RUN: Duration = Duration::from_millis(20);
/// How many tokens there are for each microsecond of the server's.
const TOKENS: u64 = 2048;

/// A turn of a waiter: how long it waited, who it is, and the token.
struct Taken {
    waited: Duration,
    who: usize,
    token: u64,
}

pub(crate) async fn run(site: &Site, options: &Options, findings: &mut Findings<'_>) {
    for how in ["alone", "together"] {
        one_lock(site, options, how, findings).await;
    }
}

async fn one_lock(site: &Site, options: &Options, how: &str, findings: &mut Findings<'_>) {
    let (url, prefix) = (site.url(), unique_prefix());
    let each = options.line / PROCESSES;
    let (tasks, rounds) = (each.to_string(), ROUNDS.to_string());
    let said = match how {
        "alone" => "each in the server's line",
        _ => "in the lines of their processes",
    };
    println!("-- {} waiters on one lock, {said}", options.line);
    let start = |_| process(["line", &url, &prefix, &tasks, &rounds, how]);
    let workers: Vec<Worker> = (0..PROCESSES).map(start).collect();
    let mut taken = Vec::new();
    for (n, worker) in workers.iter().enumerate() {
        let limit = Duration::from_secs(120);
        let output = wait_for(limit, "all had their turns", || async {
            let output = worker.output();
            output.ends_with("done\n").then_some(output)
        });
        taken.extend(output.await.lines().filter_map(|line| read(line, n * each)));
    }
    taken.sort_unstable_by_key(|turn: &Taken| turn.token);
    let turns = u32::try_from(taken.len()).unwrap_or(u32::MAX);
    let all = u32::try_from(options.line).unwrap_or(u32::MAX);
    let good = taken.len() == each * PROCESSES * ROUNDS;
    findings.check(good, format_args!("line: {turns} turns"));
    // Tokens are microseconds, times what one process may hand out in each: the time without what came before and after.
    let span =
        taken.last().map_or(0, |turn| turn.token) - taken.first().map_or(0, |turn| turn.token);
    let fair = Duration::from_micros(span / TOKENS) / turns.max(1) * all;
    let longest = taken
        .iter()
        .map(|turn| turn.waited)
        .max()
        .unwrap_or_default();
    // Beside other processes turns are quicker and slower, and the fair share is that of all of them.
    let good = longest <= options.time(fair * 3 / 2 + NOT_RUN);
    findings.check(
        good,
        format_args!("line: the longest wait is {longest:.2?}, the fair share {fair:.2?}"),
    );
    let furthest = furthest(&taken, options.line);
    if how == "alone" {
        // As many turns of others as there are others, and a few who came back while it did.
        let good = furthest <= options.line + options.line / 10;
        findings.check(
            good,
            format_args!("line: {furthest} turns at most from one of a waiter to its next"),
        );
    }
}

/// How many turns there are at most between two of the same waiter.
fn furthest(taken: &[Taken], waiters: usize) -> usize {
    let mut last = vec![None; waiters];
    let mut furthest = 0;
    for (n, turn) in taken.iter().enumerate() {
        if let Some(before) = last[turn.who].replace(n) {
            furthest = furthest.max(n - before);
        }
    }
    furthest
}

fn read(line: &str, first: usize) -> Option<Taken> {
    let rest = line.strip_prefix("turn ")?;
    let mut words = rest
        .split(' ')
        .map(|word| word.parse::<u64>().expect("a number"));
    let (micros, who, token) = (words.next()?, words.next()?, words.next()?);
    Some(Taken {
        waited: Duration::from_micros(micros),
        who: first + usize::try_from(who).ok()?,
        token,
    })
}

/// The process: takes turns at one lock.
pub(crate) async fn take_turns(url: &str, prefix: &str, tasks: &str, rounds: &str, how: &str) {
    let client = builder(url, prefix).build().await;
    let client = client.expect("a waiter connects");
    let tasks: usize = tasks.parse().expect("a number");
    let rounds: usize = rounds.parse().expect("a number");
    let process = std::process::id();
    let mut running = Vec::new();
    for n in 0..tasks {
        let mut lock = client.rw_lock("one").expect("a good name");
        if how == "alone" {
            lock = lock.owner(format!("{process}:{n}"));
        }
        running.push(tokio::spawn(async move {
            let mut turns = Vec::new();
            for round in 0..=rounds {
                let began = Instant::now();
                let guard = lock.write().await.expect("its turn comes");
                let (waited, token) = (began.elapsed(), guard.fencing_token().as_u64());
                guard.release().await.expect("it is held");
                // At first not all have come.
                if round > 0 {
                    turns.push(format!("turn {} {n} {token}", waited.as_micros()));
                }
            }
            turns
        }));
    }
    let mut turns = Vec::new();
    for task in running {
        turns.extend(task.await.expect("a task does not panic"));
    }
    println!("{}", turns.join("\n"));
    println!("done");
    // Connections stay until the others are done.
    std::future::pending::<()>().await;
}
