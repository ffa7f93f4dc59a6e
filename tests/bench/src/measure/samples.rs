//! Many measurements of one thing.

/// Measurements, for percentiles.
#[derive(Clone, Debug, Default)]
pub(crate) struct Samples {
    values: Vec<f64>,
}

impl Samples {
    pub(crate) fn add(&mut self, value: f64) {
        self.values.push(value);
    }

    /// Adds what others measured.
    pub(crate) fn merge(&mut self, others: &Self) {
        self.values.extend(&others.values);
    }

    pub(crate) fn sum(&self) -> f64 {
        self.values.iter().sum()
    }

    pub(crate) fn mean(&self) -> f64 {
        self.sum() / count(self.values.len())
    }

    /// The value that `share` of all do not exceed; not a number if there are none.
    pub(crate) fn percentile(&self, share: f64) -> f64 {
        let mut sorted = self.values.clone();
        sorted.sort_by(f64::total_cmp);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a share of a length is an index"
        )]
        let rank = (count(sorted.len()) * share).ceil() as usize;
        sorted
            .get(rank.saturating_sub(1))
            .copied()
            .unwrap_or(f64::NAN)
    }

    pub(crate) fn median(&self) -> f64 {
        self.percentile(0.5)
    }

    pub(crate) fn max(&self) -> f64 {
        self.percentile(1.0)
    }

    pub(crate) fn len(&self) -> usize {
        self.values.len()
    }
}

impl FromIterator<f64> for Samples {
    fn from_iter<I: IntoIterator<Item = f64>>(values: I) -> Self {
        let values = values.into_iter().collect();
        Self { values }
    }
}

/// A count as a number to calculate with.
#[expect(clippy::cast_precision_loss, reason = "counts here are far below 2^52")]
pub(crate) fn count(n: usize) -> f64 {
    n as f64
}
