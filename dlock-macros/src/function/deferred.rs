//! Return types that do their work after the function has returned.

use syn::visit::{self, Visit};
use syn::{Path, TraitBound, Type, TypePath};

/// What a caller gets that is not done yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deferred {
    Future,
    Stream,
    /// A task or a thread of its own.
    Task,
}

/// What in a return type is not done yet, if anything.
pub(crate) fn deferred(output: &Type) -> Option<Deferred> {
    let mut finder = Finder(None);
    finder.visit_type(output);
    finder.0
}

struct Finder(Option<Deferred>);

impl<'ast> Visit<'ast> for Finder {
    fn visit_trait_bound(&mut self, bound: &'ast TraitBound) {
        match name(&bound.path).as_deref() {
            Some("Future" | "TryFuture") => self.0 = Some(Deferred::Future),
            Some("Stream" | "TryStream") => self.0 = Some(Deferred::Stream),
            // What a returned function will return is none of this function's business.
            Some("Fn" | "FnMut" | "FnOnce" | "AsyncFn" | "AsyncFnMut" | "AsyncFnOnce") => {}
            _ => visit::visit_trait_bound(self, bound),
        }
    }

    fn visit_type_path(&mut self, path: &'ast TypePath) {
        match name(&path.path).as_deref() {
            Some("BoxFuture" | "LocalBoxFuture") => self.0 = Some(Deferred::Future),
            Some("BoxStream" | "LocalBoxStream") => self.0 = Some(Deferred::Stream),
            Some("JoinHandle" | "ScopedJoinHandle" | "JoinSet") => self.0 = Some(Deferred::Task),
            _ => visit::visit_type_path(self, path),
        }
    }
}

fn name(path: &Path) -> Option<String> {
    path.segments
        .last()
        .map(|segment| segment.ident.to_string())
}
