//! The handles of all labels.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use metrics::SharedString;

use super::{LockMetrics, describe};

#[derive(Default)]
struct Registry {
    /// Which recorder the handles belong to: its address.
    recorder: usize,
    by_label: HashMap<SharedString, Arc<LockMetrics>>,
}

static REGISTRY: Mutex<Option<Registry>> = Mutex::new(None);

/// The metrics of a label. They belong to the recorder installed now; handles taken before another
/// one was installed keep reporting to the old one.
pub(crate) fn for_label(label: &SharedString) -> Arc<LockMetrics> {
    let recorder =
        metrics::with_recorder(|recorder| std::ptr::from_ref(recorder).cast::<()>().addr());
    let mut registry = REGISTRY.lock().unwrap_or_else(PoisonError::into_inner);
    let registry = registry.get_or_insert_default();
    if registry.recorder != recorder {
        registry.recorder = recorder;
        registry.by_label.clear();
        describe();
    }
    if let Some(metrics) = registry.by_label.get(label) {
        return Arc::clone(metrics);
    }
    let metrics = Arc::new(LockMetrics::new(label));
    registry
        .by_label
        .insert(label.clone(), Arc::clone(&metrics));
    metrics
}
