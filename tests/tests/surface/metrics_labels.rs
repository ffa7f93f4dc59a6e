//! Labels are bounded, whatever is done with them. Apart from the other tests of metrics: it uses up
//! the labels of its process.

use dlock::Client;
use dlock::metrics::{MAX_LABELS, OTHER};
use metrics_exporter_prometheus::PrometheusBuilder;

#[tokio::test]
async fn labels_beyond_the_limit_are_counted_together() {
    let exporter = PrometheusBuilder::new()
        .install_recorder()
        .expect("no other recorder is installed");
    let client = Client::connect("memory://")
        .await
        .expect("memory is always there");
    for n in 0..MAX_LABELS + 50 {
        let lock = client.rw_lock("one").expect("valid");
        let lock = lock.label(format!("label-{n}"));
        lock.write()
            .await
            .expect("free")
            .release()
            .await
            .expect("held");
    }
    let text = exporter.render();
    let contended = text
        .lines()
        .filter(|line| line.starts_with("dlock_contended_total{") && line.contains("write"));
    assert_eq!(contended.count(), MAX_LABELS + 1);
    let other =
        format!("dlock_hold_seconds_count{{lock=\"{OTHER}\",kind=\"rw\",mode=\"write\"}} 50");
    assert!(text.contains(&other), "no {other}");
    let unused = text.contains("unnamed");
    assert!(!unused, "a label that was replaced before use shows");
}
