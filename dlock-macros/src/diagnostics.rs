//! Collects every fault of one attribute, so that a user mends them in one go.

use std::fmt::Display;

use proc_macro2::TokenStream;
use quote::ToTokens;

/// The faults found so far.
#[derive(Default)]
pub(crate) struct Diagnostics {
    faults: Option<syn::Error>,
}

impl Diagnostics {
    /// Records a fault that has been put into words already.
    pub(crate) fn push(&mut self, fault: syn::Error) {
        match &mut self.faults {
            Some(faults) => faults.combine(fault),
            None => self.faults = Some(fault),
        }
    }

    /// Records `message` under `tokens`.
    pub(crate) fn at(&mut self, tokens: impl ToTokens, message: impl Display) {
        self.push(syn::Error::new_spanned(tokens, message));
    }

    /// Keeps the value of `result`, or its fault.
    pub(crate) fn keep<T>(&mut self, result: syn::Result<T>) -> Option<T> {
        result.map_err(|fault| self.push(fault)).ok()
    }

    /// `None` while nothing is wrong, else one `compile_error!` per fault.
    pub(crate) fn into_compile_errors(self) -> Option<TokenStream> {
        self.faults.map(|faults| faults.to_compile_error())
    }
}
