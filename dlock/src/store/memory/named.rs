//! Stores that several clients of this process find by name.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Weak};

use parking_lot::Mutex;

use super::MemoryStore;

static STORES: LazyLock<Mutex<HashMap<String, Weak<MemoryStore>>>> = LazyLock::new(Mutex::default);

/// The store of this name; made at the first call, and again once everybody let go of it.
pub(super) fn named(name: &str) -> Arc<MemoryStore> {
    let mut stores = STORES.lock();
    if let Some(store) = stores.get(name).and_then(Weak::upgrade) {
        return store;
    }
    stores.retain(|_, store| store.strong_count() > 0);
    let store = Arc::new(MemoryStore::new());
    stores.insert(name.to_owned(), Arc::downgrade(&store));
    store
}

/// From now on this is the store of this name, for as long as somebody has it.
pub(super) fn call(name: &str, store: MemoryStore) -> Arc<MemoryStore> {
    let store = Arc::new(store);
    STORES
        .lock()
        .insert(name.to_owned(), Arc::downgrade(&store));
    store
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::named;

    #[test]
    fn a_name_means_one_store() {
        let (a, b, other) = (named("a"), named("a"), named("other"));
        assert!(Arc::ptr_eq(&a, &b));
        assert!(!Arc::ptr_eq(&a, &other));
    }
}
