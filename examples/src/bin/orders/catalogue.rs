//! What the shop sells.

/// Few articles, so that buyers meet. The locks of four each are on every shard of a new cluster.
pub(crate) const SKUS: [&str; 12] = [
    "apron", "basket", "candle", "drill", "easel", "funnel", "globe", "hammer", "kettle", "ladder",
    "mirror", "needle",
];
