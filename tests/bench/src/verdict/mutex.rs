//! The mutex against the fastest crates that have nothing else.

use super::Verdicts;

const PEERS: [&str; 2] = ["rslock", "redis-lock"];
const OWN: &str = "dlock-mutex";

impl Verdicts<'_> {
    pub(super) fn mutex(&mut self) {
        let fastest = self.of_peers("w1", "p50").reduce(f64::min);
        let value = fastest.zip(self.get("w1", OWN, "p50"));
        let value = value.map(|(fastest, own)| fastest / own);
        // On a key that is new to the client a script looks whether the mutex is left free for other programs.
        let criterion = format!("w1, {OWN}: >= 0.70 x the faster of rslock and redis-lock, by p50");
        self.judge(&criterion, value, |v| v >= 0.70);
        for w in ["w2-64", "w2-256"] {
            let value = self.times_the_fastest(w, "pairs");
            let criterion =
                format!("{w}, {OWN}: pairs/s >= 0.97 x the faster of rslock and redis-lock");
            self.judge(&criterion, value, |v| v >= 0.97);
        }
        for (w, least) in [("w3-2", 0.8), ("w3-8", 0.9), ("w3-32", 0.8)] {
            let fewest = self.get(w, OWN, "fewest of a process");
            let most = self.get(w, OWN, "most of a process");
            let value = fewest.zip(most).map(|(fewest, most)| fewest / most);
            let criterion = format!("{w}, {OWN}: slowest process >= {least} x fastest");
            self.judge(&criterion, value, |v| v >= least);
        }
        let value = self.times_the_fastest("w4", "acquisitions");
        let criterion = format!("w4, {OWN}: >= 20 x the faster of rslock and redis-lock");
        self.judge(&criterion, value, |v| v >= 20.0);
        let value = self.get("w6", OWN, "grant after a holder's death");
        let criterion = format!("w6, {OWN}: next grant within lease + 250 ms");
        self.judge(&criterion, value, |v| v <= 2250.0);
        let value = self.get("w6", OWN, "grant past a dead waiter");
        let criterion = format!("w6, {OWN}: dead waiter costs < 1500 ms");
        self.judge(&criterion, value, |v| v < 1500.0);
    }

    fn times_the_fastest(&self, workload: &str, metric: &str) -> Option<f64> {
        let fastest = self.of_peers(workload, metric).reduce(f64::max)?;
        Some(self.get(workload, OWN, metric)? / fastest)
    }

    fn of_peers(&self, workload: &str, metric: &str) -> impl Iterator<Item = f64> {
        let peers = PEERS.into_iter();
        peers.filter_map(move |peer| self.get(workload, peer, metric))
    }
}
