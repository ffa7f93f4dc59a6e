//! How thoroughly to measure.

/// How much time there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effort {
    /// Half a minute for everything: whether it runs at all. The numbers mean nothing.
    Smoke,
    /// Minutes.
    Quick,
    /// As long as it takes.
    Full,
}

impl Effort {
    /// One of three values.
    pub(crate) fn pick<T>(self, smoke: T, quick: T, full: T) -> T {
        match self {
            Self::Smoke => smoke,
            Self::Quick => quick,
            Self::Full => full,
        }
    }
}
