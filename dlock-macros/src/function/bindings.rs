//! The names that a function's arguments bring into its body.

use syn::visit::{self, Visit};
use syn::{FnArg, Ident, PatIdent, Receiver, Signature};

/// Every name bound by the arguments, `self` included.
pub(crate) fn bindings(signature: &Signature) -> Vec<Ident> {
    let mut collector = Collector(Vec::new());
    for argument in &signature.inputs {
        match argument {
            FnArg::Receiver(receiver) => collector.visit_receiver(receiver),
            FnArg::Typed(typed) => collector.visit_pat(&typed.pat),
        }
    }
    collector.0
}

struct Collector(Vec<Ident>);

impl<'ast> Visit<'ast> for Collector {
    fn visit_receiver(&mut self, receiver: &'ast Receiver) {
        self.0.push(Ident::from(receiver.self_token));
    }

    fn visit_pat_ident(&mut self, pattern: &'ast PatIdent) {
        self.0.push(pattern.ident.clone());
        visit::visit_pat_ident(self, pattern);
    }
}
