//! Which comparisons are drawn.

use super::measurement::Measurement;

/// One metric of one workload, compared among the systems.
#[derive(Debug)]
pub(crate) struct Panel {
    pub(crate) title: &'static str,
    workload: &'static str,
    metric: &'static str,
    pub(crate) better: Better,
}

/// Which end is the good one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Better {
    Less,
    More,
}

/// What one system reached.
#[derive(Debug)]
pub(crate) struct Bar<'a> {
    pub(crate) system: &'a str,
    pub(crate) value: f64,
    pub(crate) unit: &'a str,
}

pub(crate) const PANELS: [Panel; 4] = [
    Panel {
        title: "Hot key, 8 processes: longest wait",
        workload: "w3-8",
        metric: "wait max",
        better: Better::Less,
    },
    Panel {
        title: "Hot key, tasks of one process: acquisitions",
        workload: "w4",
        metric: "acquisitions",
        better: Better::More,
    },
    Panel {
        title: "Readers and writers: longest wait of a writer",
        workload: "w5",
        metric: "writer wait max",
        better: Better::Less,
    },
    Panel {
        title: "Many keys, no contention: lock and unlock",
        workload: "w2-64",
        metric: "pairs",
        better: Better::More,
    },
];

impl Panel {
    /// Where the numbers come from.
    pub(crate) fn source(&self) -> String {
        format!("{} {}", self.workload, self.metric)
    }

    /// The systems that were measured, best first.
    pub(crate) fn bars<'a>(&self, measurements: &'a [Measurement]) -> Vec<Bar<'a>> {
        let mut bars: Vec<_> = measurements
            .iter()
            .filter(|one| one.workload == self.workload && one.metric == self.metric)
            // Parentheses say what is special about a measurement: the cluster, the polling. Without them all compare.
            .filter(|one| !one.system.ends_with(')') && one.value.is_finite())
            // What the benchmark itself costs.
            .filter(|one| one.system != "empty")
            .map(|one| Bar {
                system: &one.system,
                value: one.value,
                unit: &one.unit,
            })
            .collect();
        bars.sort_by(|one, other| one.value.total_cmp(&other.value));
        if self.better == Better::More {
            bars.reverse();
        }
        bars
    }
}
