//! The mutex against the fastest crates that have nothing else.

use super::Verdicts;
use crate::system::Kind;

const PEERS: [Kind; 2] = [Kind::Rslock, Kind::RedisLock];
const OWN: &str = "dlock-mutex";

impl Verdicts<'_> {
    pub(super) fn mutex(&mut self) {
        let fastest = self.peers("w1", "p50", &PEERS).reduce(f64::min);
        let value = fastest.zip(self.get("w1", OWN, "p50"));
        let value = value.map(|(fastest, own)| fastest / own);
        // On a key that is new to the client a script looks whether the mutex is left free for other programs.
        let criterion = format!("w1, {OWN}: >= 0.70 x the faster of rslock and redis-lock, by p50");
        self.judge(criterion, value, |v| v >= 0.70);
        for w in ["w2-64", "w2-256"] {
            let value = self.against_best(OWN, w, "pairs", &PEERS);
            let criterion =
                format!("{w}, {OWN}: pairs/s >= 0.97 x the faster of rslock and redis-lock");
            self.judge(criterion, value, |v| v >= 0.97);
        }
        for (w, least) in [("w3-2", 0.8), ("w3-8", 0.9), ("w3-32", 0.8)] {
            let value = self.evenness(w, OWN);
            let criterion = format!("{w}, {OWN}: slowest process >= {least} x fastest");
            self.judge(criterion, value, |v| v >= least);
        }
        let value = self.against_best(OWN, "w4", "acquisitions", &PEERS);
        let criterion = format!("w4, {OWN}: >= 20 x the faster of rslock and redis-lock");
        self.judge(criterion, value, |v| v >= 20.0);
        self.crashes(&format!("w6, {OWN}"), OWN);
    }
}
