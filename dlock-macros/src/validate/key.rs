//! `key` and `name`: what is locked and what its metrics are called.

use proc_macro2::Span;
use syn::{Expr, Ident, LitStr};

use super::Scope;
use crate::args::Name;
use crate::diagnostics::Diagnostics;
use crate::key::Template;
use crate::plan::Key;
use crate::suggest;

impl Scope<'_> {
    pub(super) fn key(&self, faults: &mut Diagnostics) -> Option<Key> {
        let Some(arg) = self.args.get(Name::Key) else {
            if self.args.incomplete() {
                return None; // What could not be read may have been the key.
            }
            faults.push(syn::Error::new(
                Span::call_site(),
                "what is locked? write `key = \"order:{order_id}\"`",
            ));
            return None;
        };
        match (arg.string(), &arg.value) {
            (Some(literal), _) => {
                let template = faults.keep(Template::parse(literal))?;
                self.captures(&template, faults);
                Some(Key::Template(template))
            }
            (None, Expr::Lit(literal)) => {
                faults.at(
                    literal,
                    "a key is a string, as in `key = \"order:{order_id}\"`",
                );
                None
            }
            (None, value) => Some(Key::Computed(value.clone())),
        }
    }

    fn captures(&self, template: &Template, faults: &mut Diagnostics) {
        for capture in &template.captures {
            let Some(root) = capture.root() else {
                continue;
            };
            if !self.binds(root) && !may_be_constant(root) {
                faults.at(&template.literal, self.unknown(root));
            }
        }
    }

    fn unknown(&self, root: &Ident) -> String {
        let root = root.to_string();
        if root == "self" {
            return "the key uses `self`, but this function has none".to_owned();
        }
        let names: Vec<String> = self.bound.iter().map(ToString::to_string).collect();
        if let Some(meant) = suggest::closest(&root, names.iter().map(String::as_str)) {
            return format!("the function has no argument `{root}`; did you mean `{{{meant}}}`?");
        }
        if names.is_empty() {
            return format!("the function has no argument `{root}`; it takes none at all");
        }
        let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        format!(
            "the function has no argument `{root}`; it has {}",
            names.join(", ")
        )
    }

    pub(super) fn label(&self, faults: &mut Diagnostics) -> Option<LitStr> {
        let arg = self.args.get(Name::Label)?;
        match arg.string() {
            Some(label) if !label.value().is_empty() => Some(label.clone()),
            _ => {
                faults.at(
                    &arg.value,
                    "the name labels metrics, so it has to be the same for every call; \
                     write a string literal, as in `name = \"ship\"`",
                );
                None
            }
        }
    }
}

/// Constants and statics can be captured as well, and only the compiler knows which there are.
fn may_be_constant(ident: &Ident) -> bool {
    !ident.to_string().contains(char::is_lowercase)
}
