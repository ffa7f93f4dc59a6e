//! The table of metrics in the documentation, compared with a scrape.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use dlock::{Client, LockMode, RwLock};
use dlock_tests::{shared_server, wait_until};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use tokio::time::timeout;

const TABLE: &str = include_str!("../../../dlock/src/metrics/README.md");
/// What every lock name of this test starts with, and no label.
const RENDERED: &str = "rendered-";

#[tokio::test]
async fn the_table_is_what_a_scrape_shows() {
    let exporter = PrometheusBuilder::new()
        .set_buckets_for_metric(Matcher::Prefix("dlock_".into()), &dlock::metrics::BUCKETS)
        .expect("the bounds are not empty")
        .install_recorder()
        .expect("no other recorder is installed");
    a_lock_that_was_taken_once_shows_two_histograms(&exporter).await;
    everything(&exporter).await;

    let text = exporter.render();
    assert!(
        !text.contains(RENDERED),
        "a rendered key in a metric:\n{text}"
    );
    let scraped = scrape(&text);
    let table = table();
    assert_eq!(
        scraped.keys().collect::<Vec<_>>(),
        table.keys().collect::<Vec<_>>()
    );
    for (name, row) in &table {
        let seen = &scraped[name];
        assert_eq!(row.kind, seen.kind, "type of {name}");
        assert_eq!(row.unit == "seconds", name.ends_with("_seconds"), "{name}");
        let help = seen.help.trim_end_matches('.');
        assert!(row.meaning.starts_with(help), "help of {name}: {help}");
        assert!(!row.advice.is_empty(), "advice for {name}");
        let labels: BTreeSet<_> = seen.labels.keys().collect();
        assert_eq!(row.labels.keys().collect::<BTreeSet<_>>(), labels, "{name}");
        for (label, values) in row.labels.iter().filter(|(label, _)| *label != "lock") {
            let seen = &seen.labels[label];
            // A histogram is there for the kinds of lock that have used it.
            if row.kind == "histogram" && *label == "kind" {
                assert!(values.is_superset(seen), "{name}: {seen:?}");
            } else {
                assert_eq!(values, seen, "{name}, label {label}");
            }
        }
    }
}

#[tokio::test]
async fn buckets_are_in_order() {
    assert!(dlock::metrics::BUCKETS.is_sorted());
}

/// An exporter shows about twenty series of each histogram, so a lock shows only those that have a value.
async fn a_lock_that_was_taken_once_shows_two_histograms(exporter: &PrometheusHandle) {
    let client = connect("memory://").await;
    let lock = client.rw_lock("one").expect("valid").label("once");
    drop(lock.write().await.expect("free").release().await);
    let text = exporter.render();
    let of = |name: &str| {
        let lines = text.lines().filter(|line| line.starts_with(name));
        lines.filter(|line| line.contains("lock=\"once\"")).count()
    };
    // The bucket without a bound, the sum and the number.
    let histogram = dlock::metrics::BUCKETS.len() + 3;
    assert_eq!(of("dlock_acquire_wait_seconds"), histogram, "{text}");
    assert_eq!(of("dlock_hold_seconds"), histogram, "{text}");
    assert_eq!(of("dlock_"), 2 * histogram + 17, "{text}");
}

/// Uses everything that reports, and checks what can be counted.
async fn everything(exporter: &PrometheusHandle) {
    let url = "memory://metrics";
    let (a, b) = (connect(url).await, connect(url).await);
    let lock = |client: &Client, n: u32| -> RwLock {
        let name = format!("{RENDERED}{n}");
        client.rw_lock(name).expect("valid").label("order:{id}")
    };
    let count = |series: &str| value(&exporter.render(), series);
    let within = Duration::from_secs(10);

    // Held, refused, waited for in vain, waited for and cancelled.
    let held = lock(&a, 1).write().await.expect("free");
    assert!(
        (count("dlock_held{lock=\"order:{id}\",kind=\"rw\",mode=\"write\"}") - 1.0).abs() < 0.1
    );
    assert!(lock(&b, 1).try_read().await.expect("answers").is_none());
    let short = Duration::from_millis(20);
    assert!(lock(&b, 1).read_timeout(short).await.is_err());
    let (other, never) = (lock(&a, 6), lock(&b, 6));
    let kept = other.write().await.expect("free");
    assert!(timeout(short, never.write()).await.is_err());
    drop(kept.release().await);
    let waiting = tokio::spawn({
        let lock = lock(&b, 1);
        async move { lock.write().await.map(drop) }
    });
    let line = lock(&a, 1);
    wait_until(within, "somebody waits", || async {
        let info = line.inspect().await.expect("answers");
        info.waiters
            .iter()
            .any(|waiter| waiter.mode == LockMode::Write)
    })
    .await;
    // From one client to the other, then inside one.
    held.release().await.expect("held to the end");
    waiting.await.expect("runs").expect("granted");
    let via_server = "dlock_handover_seconds_count{lock=\"order:{id}\",kind=\"rw\",via=\"server\"}";
    assert!(count(via_server) > 0.0, "{}", exporter.render());
    let first = lock(&a, 2).write().await.expect("free");
    let second = tokio::spawn({
        let lock = lock(&a, 2);
        async move { lock.write().await.map(drop) }
    });
    let contended = "dlock_contended_total{lock=\"order:{id}\",kind=\"rw\",mode=\"write\"}";
    wait_until(within, "the second is in line", || async {
        count(contended) >= 3.0
    })
    .await;
    drop(first);
    second.await.expect("runs").expect("granted");
    let via_process =
        "dlock_handover_seconds_count{lock=\"order:{id}\",kind=\"rw\",via=\"process\"}";
    assert!(count(via_process) > 0.0);

    lingers(&a, &b, exporter).await;

    // A command that a server asks to be repeated.
    let server = shared_server().await;
    let c = connect(&server.url()).await;
    server.query::<String>(&["SCRIPT", "FLUSH"]).await;
    drop(lock(&c, 5).write().await.expect("free"));
    assert!(count("dlock_redirects_total{kind=\"noscript\"}") >= 1.0);

    // Renewed, and lost.
    let renewed = lock(&a, 3).lease(Duration::from_millis(300));
    let renewed = renewed.max_hold(Duration::from_millis(600));
    let guard = renewed.read().await.expect("free");
    guard.lost().await;
    drop(guard);
    assert!(count("dlock_renewal_slack_ratio_count{lock=\"order:{id}\",kind=\"rw\"}") > 0.0);
    let lost = "dlock_lost_total{lock=\"order:{id}\",kind=\"rw\",reason=\"max_hold\"}";
    assert!((count(lost) - 1.0).abs() < 0.1);
    lose_blocking(renewed.key().name().to_owned()).await;
    // One was released; the other was dropped, which reports no error.
    assert!((count("dlock_errors_total{kind=\"lost\"}") - 1.0).abs() < 0.1);
    let error = lock(&a, 4).owner("").write().await;
    assert!(error.is_err_and(|error| error.is_invalid()));
    assert!((count("dlock_errors_total{kind=\"invalid_config\"}") - 1.0).abs() < 0.1);
    assert!((count("dlock_errors_total{kind=\"wait_timeout\"}") - 1.0).abs() < 0.1);
    assert!(count("dlock_command_seconds_count{op=\"renew\"}") > 0.0);
    mutexes(&a, exporter).await;
    for client in [a, b, c] {
        client.shutdown().await.expect("nothing is held");
    }
    for mode in ["read", "write"] {
        for gauge in ["dlock_held", "dlock_waiting"] {
            let left = count(&format!(
                "{gauge}{{lock=\"order:{{id}}\",kind=\"rw\",mode=\"{mode}\"}}"
            ));
            assert!(left.abs() < 0.1, "{gauge} of {mode} ends at {left}");
        }
    }
}

/// A client keeps a lock for its next task, until another client wants it.
async fn lingers(a: &Client, b: &Client, exporter: &PrometheusHandle) {
    let lock = |client: &Client| {
        let lock = client.rw_lock(format!("{RENDERED}lingers"));
        lock.expect("valid").label("order:{id}")
    };
    let series = |name: &str| format!("dlock_linger_{name}{{lock=\"order:{{id}}\",kind=\"rw\"}}");
    let count = |name: &str| value(&exporter.render(), &series(name));
    assert!(
        !exporter.render().contains("dlock_linger_"),
        "before its use"
    );
    let keeps = lock(a).linger(Duration::from_secs(60));
    for _ in 0..3 {
        drop(keeps.write().await.expect("kept").release().await);
    }
    assert!((count("reuses_total") - 2.0).abs() < 0.1);
    let wants = lock(b).write().await.expect("given back");
    assert!(count("revokes_total") > 0.0);
    drop(wants.release().await);
    let gave_back = series("give_back_seconds_count");
    wait_until(Duration::from_secs(10), "the release is over", || async {
        exporter.render().contains(&format!("{gave_back} 1"))
    })
    .await;
}

/// A mutex has the label of a read/write lock, and is counted apart.
async fn mutexes(client: &Client, exporter: &PrometheusHandle) {
    let holds = |kind: &str| {
        let labels = format!("{{lock=\"order:{{id}}\",kind=\"{kind}\",mode=\"write\"}}");
        value(
            &exporter.render(),
            &format!("dlock_hold_seconds_count{labels}"),
        )
    };
    let before = holds("rw");
    let name = format!("{RENDERED}mutex");
    let mutex = client.mutex(name).expect("valid").label("order:{id}");
    drop(mutex.lock().await.expect("free").release().await);
    let fenced = mutex.fenced().expect("one slot");
    drop(fenced.lock().await.expect("free").release().await);
    assert!((holds("rw") - before).abs() < 0.1);
    assert!((holds("mutex") - 1.0).abs() < 0.1);
    assert!((holds("fenced_mutex") - 1.0).abs() < 0.1);
}

/// Two holds of a thread that waits are lost; one guard is released, the other dropped.
async fn lose_blocking(name: String) {
    let waiting = tokio::task::spawn_blocking(move || {
        let client = dlock::blocking::Client::connect("memory://metrics").expect("it is there");
        let lock = client.rw_lock(name).expect("valid").label("blocking");
        let lock = lock.lease(Duration::from_millis(200));
        let lock = lock.max_hold(Duration::from_millis(200));
        for released in [true, false] {
            let guard = lock.write().expect("free");
            guard.lost().expect("this thread may wait");
            if released {
                assert!(guard.release().is_err_and(|error| error.is_lost()));
            } else {
                drop(guard);
            }
        }
    });
    waiting.await.expect("runs to its end");
}

async fn connect(url: &str) -> Client {
    Client::connect(url).await.expect("it is there")
}

/// A metric as documented, or as scraped.
#[derive(Debug, Default)]
struct Metric {
    kind: String,
    unit: String,
    help: String,
    meaning: String,
    advice: String,
    /// Values by label.
    labels: BTreeMap<String, BTreeSet<String>>,
}

fn table() -> BTreeMap<String, Metric> {
    let rows = TABLE.lines().filter(|line| line.starts_with("| `"));
    rows.map(|row| {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [name, kind, unit, labels, meaning, advice] = cells[..] else {
            panic!("six columns: {row}");
        };
        let metric = Metric {
            kind: kind.into(),
            unit: unit.into(),
            meaning: meaning.into(),
            advice: advice.into(),
            labels: documented_labels(labels),
            ..Metric::default()
        };
        (name.trim_matches('`').to_owned(), metric)
    })
    .collect()
}

/// Reads "`lock`, `mode` (`read`, `write`)".
fn documented_labels(cell: &str) -> BTreeMap<String, BTreeSet<String>> {
    let mut labels: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let (mut inside, mut label) = (false, String::new());
    for (number, part) in cell.split('`').enumerate() {
        if number % 2 == 0 {
            inside = (inside || part.contains('(')) && !part.contains(')');
        } else if inside {
            labels
                .entry(label.clone())
                .or_default()
                .insert(part.to_owned());
        } else {
            part.clone_into(&mut label);
            labels.entry(label.clone()).or_default();
        }
    }
    labels
}

/// Reads the Prometheus text format.
fn scrape(text: &str) -> BTreeMap<String, Metric> {
    let mut metrics: BTreeMap<String, Metric> = BTreeMap::new();
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            let (name, help) = rest.split_once(' ').expect("a help text");
            let metric = metrics.entry(name.to_owned()).or_default();
            help.clone_into(&mut metric.help);
        } else if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').expect("a type");
            let metric = metrics.entry(name.to_owned()).or_default();
            kind.clone_into(&mut metric.kind);
        } else if let Some((series, _)) = line.rsplit_once(' ') {
            let (name, labels) = series.split_once('{').unwrap_or((series, "}"));
            let name = ["_bucket", "_sum", "_count"]
                .iter()
                .find_map(|suffix| {
                    let base = name.strip_suffix(suffix)?;
                    metrics.contains_key(base).then_some(base)
                })
                .unwrap_or(name);
            let metric = metrics.get_mut(name).expect("a type before its series");
            for pair in labels.split("\",").filter(|pair| pair.contains('=')) {
                let (label, value) = pair.split_once("=\"").expect("a label");
                if label != "le" {
                    let values = metric.labels.entry(label.to_owned()).or_default();
                    values.insert(value.trim_end_matches("\"}").to_owned());
                }
            }
        }
    }
    metrics
}

fn value(text: &str, series: &str) -> f64 {
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("no {series} in\n{text}"))
        .parse()
        .expect("a number")
}
