//! Rules of a user's own.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use super::rules::Rules;

/// The rules of those users that have some, by name.
#[derive(Debug, Default)]
pub(crate) struct Users(Mutex<BTreeMap<Vec<u8>, Arc<Rules>>>);

impl Users {
    /// The rules of a user, who has some from now on.
    pub(crate) fn rules(&self, name: &[u8]) -> Arc<Rules> {
        let mut users = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let rules = users.entry(name.to_vec());
        Arc::clone(rules.or_insert_with(|| Arc::new(Rules::new())))
    }

    /// The rules of a user, if it has some.
    pub(crate) fn find(&self, name: &[u8]) -> Option<Arc<Rules>> {
        let users = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        users.get(name).cloned()
    }
}
