//! Random numbers, all from one seed: each task draws from a stream of its own, so that leaving one of them out changes
//! nothing for the others.

/// A stream of random numbers.
#[derive(Debug, Clone)]
pub struct Random(fastrand::Rng);

impl Random {
    /// The stream with this name and number.
    pub fn of(seed: u64, name: &str, number: u64) -> Self {
        let mut state = seed ^ 0x9e37_79b9_7f4a_7c15;
        for word in name
            .bytes()
            .map(u64::from)
            .chain([number, number.rotate_left(32)])
        {
            state = mix(state ^ word);
        }
        Self(fastrand::Rng::with_seed(state))
    }

    /// Any number.
    pub fn any(&mut self) -> u64 {
        self.0.u64(..)
    }

    /// From `from` to before `to`.
    pub fn within(&mut self, from: u64, to: u64) -> u64 {
        if to <= from {
            return from;
        }
        self.0.u64(from..to)
    }

    /// An index into something of this length.
    pub fn below(&mut self, length: usize) -> usize {
        self.0.usize(..length.max(1))
    }

    /// True so often out of a thousand times.
    pub fn chance(&mut self, permille: u32) -> bool {
        self.0.u32(..1000) < permille
    }

    /// One of these.
    pub fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    /// One of these, by their weights.
    pub fn weighted<T: Copy>(&mut self, of: &[(u32, T)]) -> T {
        let all: u32 = of.iter().map(|(weight, _)| weight).sum();
        let mut at = self.0.u32(..all.max(1));
        for (weight, what) in of {
            if at < *weight {
                return *what;
            }
            at -= weight;
        }
        of[of.len() - 1].1
    }

    /// From `from` to before `to`, small numbers as often as large ones of ten times their size.
    pub fn scaled(&mut self, from: u64, to: u64) -> u64 {
        let octaves = (to.max(from + 1) / from.max(1)).ilog2().max(1);
        let low = from.max(1) << self.0.u32(..=octaves);
        self.within(low.min(to), (low * 2).min(to + 1))
    }
}

fn mix(mut state: u64) -> u64 {
    state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ (state >> 31)
}
