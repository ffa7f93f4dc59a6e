//! The handles of all labels.

use std::collections::BTreeMap;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arc_swap::ArcSwapOption;
use metrics::{NoopRecorder, Recorder, SharedString};
use parking_lot::Mutex;

use super::process_metrics::ProcessMetrics;
use super::{LockMetrics, describe};
use crate::clock::BootInstant;
use crate::kind::LockKind;

/// So many values the `lock` label takes; further ones are reported as [`OTHER`]. Labels are meant
/// to be key templates, of which no program has as many: this keeps a mistake from flooding the
/// exporter.
pub const MAX_LABELS: usize = 200;
/// The `lock` label of everything beyond [`MAX_LABELS`].
pub const OTHER: &str = "other";

/// The handles of one recorder. A registry is never changed, only replaced, so that reading it takes no lock.
struct Registry {
    /// Which recorder the handles belong to: its address.
    recorder: usize,
    /// Whether that recorder records at all.
    on: bool,
    process: Arc<ProcessMetrics>,
    /// For each kind of lock. Every new handle looks here: for few labels, comparing them is faster than hashing.
    by_label: [BTreeMap<SharedString, Arc<LockMetrics>>; LockKind::COUNT],
}

static REGISTRY: ArcSwapOption<Registry> = ArcSwapOption::const_empty();
/// Whether the registry's recorder records: checked first, because usually none is installed.
static ON: AtomicBool = AtomicBool::new(false);
/// Held while the registry is being replaced.
static REPLACING: Mutex<()> = Mutex::new(());

/// The metrics of a label and a kind of lock. They belong to the recorder installed now; handles taken before another
/// one was installed keep reporting to the old one.
pub(crate) fn for_label(label: &SharedString, kind: LockKind) -> Arc<LockMetrics> {
    if let Some(known) = with_registry(|registry| registry.find(label, kind)) {
        return known;
    }
    let _replacing = REPLACING.lock();
    if let Some(known) = with_registry(|registry| registry.find(label, kind)) {
        return known;
    }
    let mut next = with_registry(Registry::copy).unwrap_or_else(Registry::new);
    let metrics = next.add(label, kind);
    ON.store(next.on, Ordering::Relaxed);
    REGISTRY.store(Some(Arc::new(next)));
    metrics
}

/// A command was answered.
pub(crate) fn command(op: &'static str, sent_at: BootInstant) {
    if ON.load(Ordering::Relaxed) {
        with_registry(|registry| {
            registry.process.command(op, sent_at);
            Some(())
        });
    }
}

/// Looks at the registry, if it belongs to the recorder installed now.
fn with_registry<T>(look: impl FnOnce(&Registry) -> Option<T>) -> Option<T> {
    let registry = REGISTRY.load();
    let registry = registry.as_ref()?;
    if registry.recorder != metrics::with_recorder(address) {
        return None;
    }
    look(registry)
}

fn address(recorder: &dyn Recorder) -> usize {
    ptr::from_ref(recorder).addr()
}

/// Whether this is the recorder that stands in when none is installed, by its methods. `false` if
/// the compiler made two copies of them, which costs some looks at the clock and nothing else.
fn is_noop(recorder: &dyn Recorder) -> bool {
    let noop: *const dyn Recorder = &NoopRecorder;
    ptr::eq(ptr::from_ref(recorder).with_addr(noop.addr()), noop)
}

impl Registry {
    fn new() -> Self {
        describe();
        let (recorder, noop) =
            metrics::with_recorder(|recorder| (address(recorder), is_noop(recorder)));
        Self {
            recorder,
            on: !noop,
            process: Arc::new(ProcessMetrics::new()),
            by_label: Default::default(),
        }
    }

    #[expect(
        clippy::unnecessary_wraps,
        reason = "it is one of the looks at a registry"
    )]
    fn copy(&self) -> Option<Self> {
        Some(Self {
            process: Arc::clone(&self.process),
            by_label: self.by_label.clone(),
            ..*self
        })
    }

    fn find(&self, label: &SharedString, kind: LockKind) -> Option<Arc<LockMetrics>> {
        let by_label = &self.by_label[kind as usize];
        let known = by_label.get(label);
        known.or_else(|| by_label.get(OTHER)).cloned()
    }

    fn add(&mut self, label: &SharedString, kind: LockKind) -> Arc<LockMetrics> {
        let by_label = &mut self.by_label[kind as usize];
        let label = if by_label.len() < MAX_LABELS {
            label.clone()
        } else {
            SharedString::const_str(OTHER)
        };
        let metrics = Arc::new(LockMetrics::new(&label, kind, self.on));
        by_label.insert(label, Arc::clone(&metrics));
        metrics
    }
}
