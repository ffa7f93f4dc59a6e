//! Waiters of four processes on locks that another process holds, and what may happen to the servers.

use std::time::{Duration, Instant};

use dlock_tests::{Worker, unique_prefix, wait_until};

use super::findings::Findings;
use super::holder::{probe, said};
use super::options::Options;
use super::process;
use super::sample::{Rate, Sample, channels, rate_over};
use super::site::Site;
use super::waiter::GO;

const WAITING: usize = 4;
const LEASE: Duration = Duration::from_secs(3);

/// When all are to be subscribed again, and when servers are to do no more than before; on a quiet machine.
pub(crate) const SUBSCRIBED: Duration = Duration::from_secs(3);
pub(crate) const CALM: Duration = Duration::from_secs(5);

/// How long nothing may get better before that is given up.
const PATIENCE: Duration = Duration::from_secs(60);

/// The processes, and what is usual.
struct Crowd<'s> {
    site: &'s Site,
    holder: Worker,
    waiters: Vec<Worker>,
    /// How many channels there are when all are subscribed.
    channels: usize,
    usual: Rate,
}

pub(crate) async fn run(site: &Site, options: &Options, findings: &mut Findings<'_>) {
    let (locks, prefix) = (options.locks, unique_prefix());
    let (url, count) = (site.url(), locks.to_string());
    println!("-- {locks} waiters of {WAITING} processes on {locks} held locks, lease {LEASE:?}");
    let lease = LEASE.as_millis().to_string();
    let holder = process(["hold", &url, &prefix, &count, &lease]);
    let all_held = Duration::from_secs(60);
    wait_until(all_held, "all are held", || async {
        said(&holder, "held") == locks
    })
    .await;
    let each = locks / WAITING;
    let start = |n: usize| {
        let (first, each) = ((n * each).to_string(), each.to_string());
        process(["wait", &url, &prefix, &first, &each, &count])
    };
    let waiters: Vec<_> = (0..WAITING).map(start).collect();
    for waiter in &waiters {
        let ready = || async { waiter.output().contains("ready") };
        wait_until(Duration::from_secs(20), "a waiter is ready", ready).await;
    }
    let expected = if site.is_cluster() { locks } else { WAITING };
    let mut crowd = Crowd {
        site,
        holder,
        waiters,
        channels: options.channels.unwrap_or(expected),
        usual: Rate {
            scripts: 0.0,
            busy: 0.0,
        },
    };
    for waiter in &crowd.waiters {
        waiter.touch(GO);
    }
    let took = crowd.subscribed(Instant::now()).await;
    findings.within("all at once: subscribed", took, SUBSCRIBED);
    tokio::time::sleep(Duration::from_secs(2)).await;
    let usual = rate_over(site, Duration::from_secs(3)).await;
    crowd.usual = usual.expect("nothing keeps the servers from answering");
    let Rate { scripts, busy } = crowd.usual;
    println!(
        "       usual: {scripts:.0} scripts a second, {:.0} % of the time",
        busy * 100.0
    );
    crowd.judge("all at once", options, findings).await;

    site.kill_subscriptions().await;
    crowd.recovers("subscriptions killed", true, findings).await;
    crowd.judge("subscriptions killed", options, findings).await;

    let down = site.restart().await;
    println!("       the servers were away for {down:.1?}");
    crowd
        .recovers("started again with its data", true, findings)
        .await;
    crowd
        .judge("started again with its data", options, findings)
        .await;

    site.stand_still(options.silence).await;
    crowd.recovers("stood still", false, findings).await;
    let lost = said(&crowd.holder, "lost");
    println!(
        "       {lost} leases of {LEASE:?} ended while the servers stood still for {:?}",
        options.silence
    );
    let began = Instant::now();
    let back = crowd
        .until(began, || async { said(&crowd.holder, "held") == locks })
        .await;
    findings.within("stood still: all held again", back, CALM * 2);
    crowd.woken("stood still", options, findings).await;
}

impl Crowd<'_> {
    /// How long it takes from `began` until `what` is true.
    async fn until<F: Future<Output = bool>>(
        &self,
        began: Instant,
        what: impl Fn() -> F,
    ) -> Option<Duration> {
        while began.elapsed() < PATIENCE {
            if what().await {
                return Some(began.elapsed());
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        None
    }

    async fn subscribed(&self, began: Instant) -> Option<Duration> {
        self.until(began, || async {
            channels(self.site).await >= self.channels
        })
        .await
    }

    /// Until all are subscribed, and until the servers do what is usual; no more than that where leases were lost.
    async fn recovers(&self, what: &str, strict: bool, findings: &mut Findings<'_>) {
        let began = Instant::now();
        let mut samples: Vec<Sample> = Vec::new();
        let (mut subscribed, mut calm, mut peak) = (None, None, 0.0_f64);
        while began.elapsed() < PATIENCE && (subscribed.is_none() || calm.is_none()) {
            tokio::time::sleep(Duration::from_millis(200)).await;
            if subscribed.is_none() && channels(self.site).await >= self.channels {
                subscribed = Some(began.elapsed());
            }
            samples.extend(Sample::take(self.site).await);
            // Over a second.
            if let [.., earlier, _, _, _, _, now] = &samples[..] {
                let rate = now.since(earlier);
                peak = peak.max(rate.scripts);
                let part = rate.scripts / self.usual.scripts;
                if calm.is_none() && (0.8..=1.2).contains(&part) {
                    calm = Some(began.elapsed().saturating_sub(Duration::from_secs(1)));
                }
            }
        }
        let limit = if strict { CALM } else { CALM * 2 };
        println!("       {what}: {peak:.0} scripts a second at most");
        findings.within(&format!("{what}: subscribed"), subscribed, SUBSCRIBED);
        findings.within(&format!("{what}: servers as busy as before"), calm, limit);
    }

    /// Nothing was lost, nothing failed, and waiters are woken.
    async fn judge(&self, what: &str, options: &Options, findings: &mut Findings<'_>) {
        let lost = said(&self.holder, "lost");
        findings.check(lost == 0, format_args!("{what}: {lost} leases lost"));
        let errors: usize = self
            .waiters
            .iter()
            .map(|waiter| said(waiter, "errors"))
            .sum();
        findings.check(errors == 0, format_args!("{what}: {errors} waiters failed"));
        for waiter in self
            .waiters
            .iter()
            .filter(|waiter| said(waiter, "errors") > 0)
        {
            let output = waiter.output();
            let first = output.lines().find(|line| line.starts_with("error "));
            println!("       {}", first.unwrap_or_default());
        }
        self.woken(what, options, findings).await;
    }

    async fn woken(&self, what: &str, _: &Options, findings: &mut Findings<'_>) {
        let took = probe(&self.holder).await;
        let quiet = Duration::from_millis(100);
        findings.within(
            &format!("{what}: there and back, in the middle"),
            took,
            quiet,
        );
    }
}
