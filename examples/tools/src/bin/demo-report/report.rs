//! The numbers of a run, and what they prove.

use std::collections::BTreeMap;
use std::time::Duration;

use super::Failure;
use super::args::ReportArgs;
use super::books::Books;
use super::locks;
use super::prometheus::{Prometheus, Sample};
use super::requests::Requests;
use super::verdict::Verdict;

/// A killed master: its replica is elected after the cluster's node timeout, and on a busy machine
/// not at the first attempt.
const FAILOVER: Duration = Duration::from_secs(15);
/// A killed shop: what it held is free after its lease of 3 s.
const LEASE_AND_MORE: Duration = Duration::from_secs(6);
/// Locks of other masters have nothing to wait for; a machine with few cores has.
const UNCONCERNED: Duration = Duration::from_secs(2);
/// Requests that met a killed shop or master may fail.
const SERVED: f64 = 0.97;

pub(crate) async fn report(args: &ReportArgs, verdict: &mut Verdict) -> Result<(), Failure> {
    let requests = Requests::read(&args.requests)?;
    let books = Books::read(&args.db)?;
    let answers: Vec<String> = requests
        .answers()
        .iter()
        .map(|(answer, number)| format!("{answer} {number}"))
        .collect();
    println!("requests: {}: {}", requests.len(), answers.join(", "));
    println!(
        "units: {} delivered, {} ordered",
        books.supplied, books.orders
    );
    if args.without_lock {
        println!("deliveries lost: {}", books.lost);
        println!("jobs run again: {} of {}", books.repeated, books.restocks);
        println!(
            "quotes that do not fit together: {}",
            requests.count("torn")
        );
        let seen = format!("{} units", books.oversold);
        verdict.check("oversold without the lock", books.oversold > 0, seen);
        return Ok(());
    }

    let seen = format!("{} units", books.oversold);
    verdict.check("oversold", books.oversold == 0 && books.orders > 0, seen);
    verdict.check("deliveries lost", books.lost == 0, books.lost);
    let seen = format!("{} of {}", books.repeated, books.restocks);
    verdict.check(
        "jobs run again",
        books.repeated == 0 && books.restocks > 0,
        seen,
    );
    let torn = requests.count("torn");
    verdict.check("quotes that do not fit together", torn == 0, torn);
    let seen = format!("{} of {}", books.unordered, books.fenced);
    let ordered = books.unordered == 0 && books.fenced > 0;
    verdict.check("orders whose token did not grow", ordered, seen);
    #[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
    let share = requests.served() as f64 / requests.len().max(1) as f64;
    verdict.check(
        "requests served",
        share >= SERVED,
        format!("{:.2} %", share * 100.0),
    );

    failures(args, &requests, verdict);
    if let Some(url) = &args.prometheus {
        metrics(&Prometheus::at(url)?).await?;
    }
    if let Some(url) = &args.url {
        let everything = requests.pauses(0, u64::MAX);
        let held = locks::held(url, everything.into_keys()).await?;
        verdict.check("locks held after the shops have ended", held == 0, held);
    }
    Ok(())
}

/// How long the articles stood still when something was killed.
fn failures(args: &ReportArgs, requests: &Requests, verdict: &mut Verdict) {
    if let Some(killed) = args.shop_killed {
        let until = args.master_killed.unwrap_or(u64::MAX);
        let pause = longest(requests.pauses(killed, until).values());
        let seen = format!("{pause:.1?} at most");
        verdict.check(
            "pause after the kill of a shop",
            pause < LEASE_AND_MORE,
            seen,
        );
    }
    if let (Some(killed), Some(slots)) = (args.master_killed, &args.slots) {
        let (hit, spared): (BTreeMap<_, _>, BTreeMap<_, _>) = requests
            .pauses(killed, u64::MAX)
            .into_iter()
            .partition(|(sku, _)| slots.contain_lock_of(sku));
        let gap = longest(hit.values());
        let seen = format!("{gap:.1?} at most, {} articles", hit.len());
        let fine = gap < FAILOVER && !hit.is_empty();
        verdict.check("failover gap of the killed master's locks", fine, seen);
        let pause = longest(spared.values());
        let seen = format!("{pause:.1?} at most, {} articles", spared.len());
        verdict.check(
            "pause of the other locks meanwhile",
            pause < UNCONCERNED,
            seen,
        );
    }
}

fn longest<'a>(pauses: impl Iterator<Item = &'a Duration>) -> Duration {
    pauses.max().copied().unwrap_or_default()
}

/// What the services have counted; also those that have ended, up to their last scrape.
async fn metrics(prometheus: &Prometheus) -> Result<(), Failure> {
    let mut waits: BTreeMap<(String, String), [f64; 3]> = BTreeMap::new();
    for (column, quantile) in ["0.5", "0.95", "0.99"].into_iter().enumerate() {
        let expression = format!(
            "histogram_quantile({quantile}, sum by (lock, mode, le) \
             (max_over_time(dlock_acquire_wait_seconds_bucket{{outcome=\"acquired\"}}[15m])))"
        );
        for sample in prometheus.query(&expression).await? {
            if !sample.value().is_nan() {
                let key = (sample.label("lock").into(), sample.label("mode").into());
                waits.entry(key).or_default()[column] = sample.value() * 1000.0;
            }
        }
    }
    println!(
        "waits in ms:  {:14} {:6} {:>9} {:>9} {:>9}",
        "lock", "mode", "p50", "p95", "p99"
    );
    for ((lock, mode), [p50, p95, p99]) in waits {
        println!("              {lock:14} {mode:6} {p50:9.2} {p95:9.2} {p99:9.2}");
    }

    let sums = [
        (
            "lost leases",
            "sum by (lock, reason) (max_over_time(dlock_lost_total[15m])) > 0",
        ),
        (
            "renewals",
            "sum by (outcome) (max_over_time(dlock_renewals_total[15m])) > 0",
        ),
        (
            "redirects",
            "sum by (kind) (max_over_time(dlock_redirects_total[15m])) > 0",
        ),
        (
            "errors",
            "sum by (kind) (max_over_time(dlock_errors_total[15m])) > 0",
        ),
        (
            "alerts",
            "sum by (alertname, alertstate) (max_over_time(ALERTS[15m]))",
        ),
    ];
    for (title, expression) in sums {
        let samples = prometheus.query(expression).await?;
        let parts: Vec<String> = samples.iter().map(part).collect();
        let none = || "none".to_owned();
        let text = Some(parts.join(", ")).filter(|text| !text.is_empty());
        println!("{title}: {}", text.unwrap_or_else(none));
    }
    Ok(())
}

fn part(sample: &Sample) -> String {
    let labels: Vec<&str> = sample.labels.values().map(String::as_str).collect();
    format!("{} {}", labels.join(" "), sample.value())
}
