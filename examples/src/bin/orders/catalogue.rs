//! What the shop sells.

/// Few articles, so that buyers meet; enough that their locks are spread over all shards.
pub(crate) const SKUS: [&str; 12] = [
    "apron", "basket", "candle", "drill", "easel", "funnel", "globe", "hammer", "inkwell", "jug",
    "kettle", "ladder",
];
