//! `key` and `name`: what is locked and what its metrics are called.

use proc_macro2::Span;
use syn::{Expr, Ident, LitStr};

use super::Scope;
use crate::args::{Arg, Name, string};
use crate::diagnostics::Diagnostics;
use crate::key::Template;
use crate::plan::{Key, Keys};
use crate::suggest;

impl Scope<'_> {
    pub(super) fn keys(&self, faults: &mut Diagnostics) -> Option<Keys> {
        match (self.args.get(Name::Key), self.args.get(Name::Keys)) {
            (Some(key), None) => self.key(&key.value, faults).map(Keys::One),
            (None, Some(keys)) => self.several(keys, faults),
            (Some(_), Some(keys)) => {
                faults.push(syn::Error::new(
                    keys.span,
                    "`key` and `keys` contradict each other; write all of them as \
                     `keys = [\"..\", \"..\"]`",
                ));
                None
            }
            (None, None) => {
                // What could not be read may have been the key.
                if !self.args.incomplete() {
                    faults.push(syn::Error::new(
                        Span::call_site(),
                        "what is locked? write `key = \"order:{order_id}\"`",
                    ));
                }
                None
            }
        }
    }

    fn several(&self, keys: &Arg, faults: &mut Diagnostics) -> Option<Keys> {
        let array = match &keys.value {
            Expr::Array(array) => array,
            Expr::Lit(literal) => {
                faults.at(
                    literal,
                    "`keys` takes several, as in `keys = [\"account:{from}\", \"account:{to}\"]`; \
                     for a single one write `key = ..`",
                );
                return None;
            }
            computed => return Some(Keys::Computed(computed.clone())),
        };
        if array.elems.is_empty() {
            faults.at(
                array,
                "no keys, no locks; name what is locked, as in `keys = [\"account:{from}\", \"account:{to}\"]`",
            );
            return None;
        }
        let mut seen: Vec<String> = Vec::new();
        for text in array.elems.iter().filter_map(string) {
            if seen.contains(&text.value()) {
                faults.at(text, "this key is in the list already; remove it");
            }
            seen.push(text.value());
        }
        let keys: Vec<Option<Key>> = array
            .elems
            .iter()
            .map(|key| self.key(key, faults))
            .collect();
        keys.into_iter().collect::<Option<_>>().map(Keys::Several)
    }

    fn key(&self, value: &Expr, faults: &mut Diagnostics) -> Option<Key> {
        match (string(value), value) {
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
            (None, Expr::Array(array)) => {
                faults.at(
                    array,
                    "`key` takes one key; for several locks at once write `keys = [..]`",
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
                    "the label has to be the same for every call; \
                     write a string literal, as in `label = \"ship\"`",
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
