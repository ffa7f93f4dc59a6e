//! Whether the numbers are what they are meant to be.

mod growth;
mod mutex;

use std::fmt::{Display, Write as _};

use crate::{
    results::Results,
    system::{Kind, Polling},
};

/// The read/write lock's rows.
const OWN: [&str; 2] = ["dlock", "dlock (cluster)"];

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
    fn judge(&mut self, criterion: impl Display, value: Option<f64>, passes: impl Fn(f64) -> bool) {
        if let Some(value) = value.filter(|value| value.is_finite()) {
            let verdict = if passes(value) { "PASS" } else { "**FAIL**" };
            let _ = writeln!(self.text, "| {criterion} | {value:.2} | {verdict} |");
        }
    }

    fn get(&self, workload: &str, system: &str, metric: &str) -> Option<f64> {
        self.results.get(workload, system, metric)
    }

    /// The values of these systems, dlock left out.
    fn peers(&self, workload: &str, metric: &str, kinds: &[Kind]) -> impl Iterator<Item = f64> {
        let peers = kinds.iter().filter(|kind| !Kind::OURS.contains(kind));
        peers.filter_map(move |kind| self.get(workload, kind.name(), metric))
    }

    /// A value of ours as a multiple of the peers' largest.
    fn against_best(&self, own: &str, workload: &str, metric: &str, kinds: &[Kind]) -> Option<f64> {
        let best = self.peers(workload, metric, kinds).reduce(f64::max)?;
        Some(self.get(workload, own, metric)? / best)
    }

    /// The slowest process as a multiple of the fastest.
    fn evenness(&self, workload: &str, system: &str) -> Option<f64> {
        let fewest = self.get(workload, system, "fewest of a process")?;
        Some(fewest / self.get(workload, system, "most of a process")?)
    }

    /// Judges dlock's value as a multiple of each floor's, on one server and on a cluster.
    fn against_floors(&mut self, w: &str, metric: &str, limit: &str, passes: fn(f64) -> bool) {
        for floor in ["raw", "raw-token"] {
            for (place, row) in [("", ""), (", cluster", " (cluster)")] {
                let get = |system| self.get(w, &format!("{system}{row}"), metric);
                let value = get("dlock").zip(get(floor)).map(|(own, floor)| own / floor);
                self.judge(format!("{w}{place}: {limit} x {floor}"), value, passes);
            }
        }
    }

    fn uncontended(&mut self) {
        self.against_floors("w1", "p50", "p50 <= 1.15", |v| v <= 1.15);
        for w in ["w2-64", "w2-256"] {
            self.against_floors(w, "pairs", "pairs/s >= 0.85", |v| v >= 0.85);
            let value = self.against_best("dlock", w, "pairs", &Kind::READ_WRITE);
            let criterion = format!("{w}: pairs/s > 1 x best read/write peer");
            self.judge(criterion, value, |v| v > 1.0);
            let value = self.against_best("dlock", w, "pairs", &Kind::LOCKS);
            let criterion = format!("{w}: pairs/s >= 0.7 x best mutex");
            self.judge(criterion, value, |v| v >= 0.7);
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
                    self.judge(criterion, value, |v| v >= 20.0);
                }
            }
            for system in OWN {
                let value = self.evenness(w, system);
                let criterion = format!("{w}, {system}: slowest process >= 0.8 x fastest");
                self.judge(criterion, value, |v| v >= 0.8);
                let value = self.get(w, system, "round trips");
                let criterion = format!("{w}, {system}: round trips per acquisition <= 5");
                self.judge(criterion, value, |v| v <= 5.0);
                let value = self.get(w, system, "of what hold + 2 round trips allow");
                let criterion = format!("{w}, {system}: >= 90 % of hold + 2 round trips");
                self.judge(criterion, value, |v| v >= 90.0);
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
        for system in OWN {
            let value = self.get("w4", system, "acquisitions");
            let criterion = format!("w4, {system}: >= 200,000 acquisitions/s");
            self.judge(criterion, value, |v| v >= 200_000.0);
            let value = self.get("w4", system, "its wait max").map(|ms| ms / 5.0);
            let criterion = format!("w4, {system}: another process waits <= 3 slices of 5 ms");
            self.judge(criterion, value, |v| v <= 3.0);
        }
        let value = self.against_best("dlock", "w4", "acquisitions", &Kind::LOCKS);
        self.judge("w4: >= 20 x best peer", value, |v| v >= 20.0);
    }

    fn readers(&mut self) {
        let value = self.against_best("dlock", "w5", "operations", &Kind::READ_WRITE);
        self.judge("w5: operations/s >= 1 x best peer", value, |v| v >= 1.0);
        for system in OWN {
            let value = self.get("w5", system, "writer wait max");
            let criterion = format!("w5, {system}: longest wait of a writer < 30 ms");
            self.judge(criterion, value, |v| v < 30.0);
        }
    }

    fn the_rest(&mut self) {
        self.crashes("w6", "dlock");
        for system in OWN {
            let value = self.get("w7", system, "lost");
            self.judge(format!("w7, {system}: 0 lost"), value, |v| v == 0.0);
            let value = self.get("w7", system, "client CPU");
            let criterion = format!("w7, {system}: client < 25 % of a core");
            self.judge(criterion, value, |v| v < 25.0);
        }
        let whole = self.get("w8", "attribute", "time");
        self.judge("w8: whole annotated call < 1000 ns", whole, |v| v < 1000.0);
        let guard = self.get("w8", "guard", "time");
        let value = whole.zip(guard).map(|(whole, guard)| whole - guard);
        let criterion = "w8: attribute adds < 1000 ns to the guard";
        self.judge(criterion, value, |v| v < 1000.0);
        let value = self.get("w9", "dlock", "growth");
        self.judge("w9: memory flat, < 2 bytes per pair", value, |v| v < 2.0);
    }

    fn crashes(&mut self, title: &str, system: &str) {
        let value = self.get("w6", system, "grant after a holder's death");
        let criterion = format!("{title}: next grant within lease + 250 ms");
        self.judge(criterion, value, |v| v <= 2250.0);
        let value = self.get("w6", system, "grant past a dead waiter");
        let criterion = format!("{title}: dead waiter costs < 1500 ms");
        self.judge(criterion, value, |v| v < 1500.0);
    }
}
