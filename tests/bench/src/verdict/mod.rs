//! Whether the numbers are what they are meant to be.

mod growth;
mod mutex;

use std::fmt::Write as _;

use crate::{
    results::Results,
    system::{Kind, Polling},
};

/// The results, judged one by one.
struct Verdicts<'a> {
    results: &'a Results,
    text: String,
}

/// A Markdown table of all criteria that the results allow to judge.
pub(crate) fn to_markdown(results: &Results) -> String {
    let mut verdicts = Verdicts {
        results,
        text: "\n### Summary\n\n| criterion | measured | |\n|---|---:|---|\n".into(),
    };
    verdicts.uncontended();
    verdicts.hot_key();
    verdicts.one_process();
    verdicts.readers();
    verdicts.the_rest();
    verdicts.growth();
    verdicts.mutex();
    verdicts.text
}

impl Verdicts<'_> {
    fn judge(&mut self, criterion: &str, value: Option<f64>, passes: impl Fn(f64) -> bool) {
        if let Some(value) = value.filter(|value| value.is_finite()) {
            let verdict = if passes(value) { "PASS" } else { "**FAIL**" };
            let _ = writeln!(self.text, "| {criterion} | {value:.2} | {verdict} |");
        }
    }

    fn get(&self, workload: &str, system: &str, metric: &str) -> Option<f64> {
        self.results.get(workload, system, metric)
    }

    fn ratio(&self, workload: &str, metric: &str, of: &str, to: &str) -> Option<f64> {
        Some(self.get(workload, of, metric)? / self.get(workload, to, metric)?)
    }

    /// The peers' values, dlock and the floor left out.
    fn peers(&self, workload: &str, metric: &str, read_write_only: bool) -> Vec<f64> {
        let floor = [Kind::Raw, Kind::RawToken, Kind::Empty];
        let peers = Kind::ALL.into_iter().filter(|kind| {
            !Kind::OURS.contains(kind)
                && !floor.contains(kind)
                && (!read_write_only || Kind::READ_WRITE.contains(kind))
        });
        peers
            .filter_map(|kind| self.get(workload, kind.name(), metric))
            .collect()
    }

    /// dlock's value as a multiple of the peers' largest.
    fn against_best(&self, workload: &str, metric: &str, read_write_only: bool) -> Option<f64> {
        let peers = self.peers(workload, metric, read_write_only);
        let best = peers.into_iter().reduce(f64::max)?;
        Some(self.get(workload, "dlock", metric)? / best)
    }

    fn uncontended(&mut self) {
        for floor in ["raw", "raw-token"] {
            let value = self.ratio("w1", "p50", "dlock", floor);
            self.judge(&format!("w1: p50 <= 1.15 x {floor}"), value, |v| v <= 1.15);
            let value = self.ratio(
                "w1",
                "p50",
                "dlock (cluster)",
                &format!("{floor} (cluster)"),
            );
            let criterion = format!("w1, cluster: p50 <= 1.15 x {floor}");
            self.judge(&criterion, value, |v| v <= 1.15);
        }
        for w in ["w2-64", "w2-256"] {
            for floor in ["raw", "raw-token"] {
                let value = self.ratio(w, "pairs", "dlock", floor);
                let criterion = format!("{w}: pairs/s >= 0.85 x {floor}");
                self.judge(&criterion, value, |v| v >= 0.85);
                let value =
                    self.ratio(w, "pairs", "dlock (cluster)", &format!("{floor} (cluster)"));
                let criterion = format!("{w}, cluster: pairs/s >= 0.85 x {floor}");
                self.judge(&criterion, value, |v| v >= 0.85);
            }
            let value = self.against_best(w, "pairs", true);
            let criterion = format!("{w}: pairs/s > 1 x best read/write peer");
            self.judge(&criterion, value, |v| v > 1.0);
            let value = self.against_best(w, "pairs", false);
            let criterion = format!("{w}: pairs/s >= 0.7 x best mutex");
            self.judge(&criterion, value, |v| v >= 0.7);
        }
    }

    fn hot_key(&mut self) {
        for w in ["w3-2", "w3-8", "w3-32"] {
            if w == "w3-8" {
                for (polling, how) in [
                    (Polling::AsShipped, "as shipped"),
                    (Polling::Tuned, "looking every millisecond"),
                ] {
                    let own = self.get(w, "dlock", "wait max");
                    let value = self.shortest_wait(w, polling).zip(own);
                    let value = value.map(|(peers, own)| peers / own);
                    let criterion =
                        format!("{w}: longest wait of a polling peer, {how}, >= 20 x dlock's");
                    self.judge(&criterion, value, |v| v >= 20.0);
                }
            }
            for system in ["dlock", "dlock (cluster)"] {
                let fewest = self.get(w, system, "fewest of a process");
                let most = self.get(w, system, "most of a process");
                let value = fewest.zip(most).map(|(fewest, most)| fewest / most);
                let criterion = format!("{w}, {system}: slowest process >= 0.8 x fastest");
                self.judge(&criterion, value, |v| v >= 0.8);
                let value = self.get(w, system, "round trips");
                let criterion = format!("{w}, {system}: round trips per acquisition <= 5");
                self.judge(&criterion, value, |v| v <= 5.0);
                let value = self.get(w, system, "of what hold + 2 round trips allow");
                let criterion = format!("{w}, {system}: >= 90 % of hold + 2 round trips");
                self.judge(&criterion, value, |v| v >= 90.0);
            }
        }
    }

    /// The shortest of the polling peers' longest waits.
    fn shortest_wait(&self, workload: &str, polling: Polling) -> Option<f64> {
        let peers = Kind::BARGING.into_iter();
        let waits = peers.filter_map(|kind| self.get(workload, &polling.label(kind), "wait max"));
        waits.reduce(f64::min)
    }

    fn one_process(&mut self) {
        for system in ["dlock", "dlock (cluster)"] {
            let value = self.get("w4", system, "acquisitions");
            let criterion = format!("w4, {system}: >= 200,000 acquisitions/s");
            self.judge(&criterion, value, |v| v >= 200_000.0);
            let value = self.get("w4", system, "its wait max").map(|ms| ms / 5.0);
            let criterion = format!("w4, {system}: another process waits <= 3 slices of 5 ms");
            self.judge(&criterion, value, |v| v <= 3.0);
        }
        let value = self.against_best("w4", "acquisitions", false);
        self.judge("w4: >= 20 x best peer", value, |v| v >= 20.0);
    }

    fn readers(&mut self) {
        let value = self.against_best("w5", "operations", true);
        self.judge("w5: operations/s >= 1 x best peer", value, |v| v >= 1.0);
        for system in ["dlock", "dlock (cluster)"] {
            let value = self.get("w5", system, "writer wait max");
            let criterion = format!("w5, {system}: longest wait of a writer < 30 ms");
            self.judge(&criterion, value, |v| v < 30.0);
        }
    }

    fn the_rest(&mut self) {
        let value = self.get("w6", "dlock", "grant after a holder's death");
        self.judge("w6: next grant within lease + 250 ms", value, |v| {
            v <= 2250.0
        });
        let value = self.get("w6", "dlock", "grant past a dead waiter");
        self.judge("w6: dead waiter costs < 1500 ms", value, |v| v < 1500.0);
        for system in ["dlock", "dlock (cluster)"] {
            let value = self.get("w7", system, "lost");
            self.judge(&format!("w7, {system}: 0 lost"), value, |v| v == 0.0);
            let value = self.get("w7", system, "client CPU");
            let criterion = format!("w7, {system}: client < 25 % of a core");
            self.judge(&criterion, value, |v| v < 25.0);
        }
        let whole = self.get("w8", "attribute", "time");
        self.judge("w8: whole annotated call < 1000 ns", whole, |v| v < 1000.0);
        let guard = self.get("w8", "guard", "time");
        let value = whole.zip(guard).map(|(whole, guard)| whole - guard);
        self.judge("w8: attribute adds < 1000 ns to the guard", value, |v| {
            v < 1000.0
        });
        let value = self.get("w9", "dlock", "growth");
        self.judge("w9: memory flat, < 2 bytes per pair", value, |v| v < 2.0);
    }
}
