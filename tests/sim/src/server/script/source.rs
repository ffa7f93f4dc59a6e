//! The texts of scripts.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use rustc_hash::FxBuildHasher;

/// How many texts are remembered.
const KNOWN: usize = 4096;

thread_local! {
    /// Hashing a text takes longer than finding it.
    static TEXTS: RefCell<HashMap<Vec<u8>, Arc<Script>, FxBuildHasher>> = RefCell::default();
}

/// A script.
#[derive(Debug)]
pub(in super::super) struct Script {
    /// The SHA1 of its text, as forty digits.
    pub(in super::super) sha: [u8; 40],
    pub(super) text: Vec<u8>,
}

/// The script with this text.
pub(in super::super) fn sha_of(text: &[u8]) -> Arc<Script> {
    TEXTS.with_borrow_mut(|texts| {
        if let Some(script) = texts.get(text) {
            return Arc::clone(script);
        }
        if texts.len() == KNOWN {
            texts.clear();
        }
        let digest = sha1_smol::Sha1::from(text).digest().to_string();
        let sha = digest.as_bytes().try_into().unwrap_or([b'0'; 40]);
        let script = Arc::new(Script {
            sha,
            text: text.to_vec(),
        });
        texts.insert(text.to_vec(), Arc::clone(&script));
        script
    })
}
