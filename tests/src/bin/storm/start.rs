//! Many processes that start at the same moment.

use std::time::{Duration, Instant};

use dlock_tests::{Worker, unique_prefix, wait_until};

use super::crowd::SUBSCRIBED;
use super::findings::Findings;
use super::holder::{probe, said};
use super::options::Options;
use super::process;
use super::sample::channels;
use super::site::Site;
use super::waiter::GO;

/// For how many waiters there is a lock.
const TO_A_LOCK: usize = 10;

/// For how many seconds a waiter that had its lock does other things. As soon as locks are free, tasks that come back at once
/// would keep the machine as busy as it can be, whatever a lock costs.
const ELSEWHERE: &str = "10";

pub(crate) async fn run(site: &Site, options: &Options, findings: &mut Findings<'_>) {
    let (starters, each, prefix) = (options.starters, options.each, unique_prefix());
    let locks = starters * each / TO_A_LOCK;
    let (url, count) = (site.url(), locks.to_string());
    println!("-- {starters} processes with {each} waiters each, on {locks} locks, all at once");
    let holder = process(["hold", &url, &prefix, &count, "3000"]);
    let minute = Duration::from_secs(60);
    wait_until(minute, "all are held", || async {
        said(&holder, "held") == locks
    })
    .await;
    let start = |n: usize| {
        let (first, each) = ((n * each / TO_A_LOCK).to_string(), each.to_string());
        process(["wait", &url, &prefix, &first, &each, &count, ELSEWHERE])
    };
    let waiters: Vec<_> = (0..starters).map(start).collect();
    for waiter in &waiters {
        let ready = || async { waiter.output().contains("ready") };
        wait_until(minute, "a process is ready", ready).await;
    }
    for waiter in &waiters {
        waiter.touch(GO);
    }
    let began = Instant::now();
    let expected = if site.is_cluster() {
        starters * each
    } else {
        starters
    };
    let expected = options.channels.unwrap_or(expected);
    let mut subscribed = None;
    while began.elapsed() < minute && subscribed.is_none() {
        tokio::time::sleep(Duration::from_millis(200)).await;
        if channels(site).await >= expected {
            subscribed = Some(began.elapsed());
        }
    }
    findings.within("start: subscribed", subscribed, SUBSCRIBED);
    tokio::time::sleep(Duration::from_secs(3)).await;
    let lost = said(&holder, "lost");
    findings.check(lost == 0, format_args!("start: {lost} leases lost"));
    let errors: usize = waiters.iter().map(|waiter| said(waiter, "errors")).sum();
    findings.check(errors == 0, format_args!("start: {errors} waiters failed"));
    let mut outputs = waiters.iter().map(Worker::output);
    let first = outputs.find_map(|output| {
        let mut lines = output.lines();
        lines
            .find(|line| line.starts_with("error "))
            .map(str::to_owned)
    });
    if let Some(first) = first {
        println!("       {first}");
    }
    // Each goes through ten waiters before it is back, of 200 processes that share the processors.
    let took = probe(&holder).await;
    findings.within(
        "start: there and back, in the middle",
        took,
        Duration::from_secs(1),
    );
}
