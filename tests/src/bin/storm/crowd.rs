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

/// How long servers may be away without an end of a lease: it is renewed after a third, and that is answered a moment later.
const OUTLASTED: Duration = Duration::from_millis(1500);

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
    /// How many leases have ended while the servers were away for too long.
    ended: usize,
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
        process(["wait", &url, &prefix, &first, &each, &count, "0"])
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
        ended: 0,
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
    crowd.judge("all at once", findings).await;

    site.kill_subscriptions().await;
    crowd.recovers("subscriptions killed", true, findings).await;
    crowd.judge("subscriptions killed", findings).await;

    let down = site.restart().await;
    println!("       the servers were away for {down:.1?}");
    let again = "started again with its data";
    let outlasted = down < OUTLASTED;
    crowd.recovers(again, outlasted, findings).await;
    if !outlasted {
        crowd.holds_again(again, locks, findings).await;
    }
    crowd.judge(again, findings).await;

    site.stand_still(options.silence).await;
    crowd.recovers("stood still", false, findings).await;
    crowd.holds_again("stood still", locks, findings).await;
    crowd.judge("stood still", findings).await;
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

    /// Until all are subscribed, and until the servers do what is usual; that may take longer where leases have ended.
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

    /// Leases have ended while the servers were away: all locks are soon held again.
    async fn holds_again(&mut self, what: &str, locks: usize, findings: &mut Findings<'_>) {
        let began = Instant::now();
        let held = || async { said(&self.holder, "held") == locks };
        let back = self.until(began, held).await;
        let ended = said(&self.holder, "lost") - self.ended;
        println!("       {what}: {ended} leases of {LEASE:?} ended while the servers were away");
        self.ended += ended;
        findings.within(&format!("{what}: all held again"), back, CALM * 2);
    }

    /// Nothing was lost while servers answered, nothing failed, and waiters are woken.
    async fn judge(&self, what: &str, findings: &mut Findings<'_>) {
        let lost = said(&self.holder, "lost") - self.ended;
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
        self.woken(what, findings).await;
    }

    async fn woken(&self, what: &str, findings: &mut Findings<'_>) {
        let took = probe(&self.holder).await;
        // After an absence each waiter asks once more before it believes a message, at its next heartbeat.
        let quiet = Duration::from_millis(500);
        findings.within(
            &format!("{what}: there and back, in the middle"),
            took,
            quiet,
        );
    }
}
