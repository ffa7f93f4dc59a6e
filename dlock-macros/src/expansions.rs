//! Compares what the attribute generates with what is kept in `expansions/`: the function as written in
//! `<name>.rs`, the outcome in `<name>.expanded.rs`.
//!
//! After a change of the generated code: `EXPANSIONS=overwrite cargo test -p dlock-macros`, then read
//! the diff.

use std::path::Path;
use std::{env, fs};

use proc_macro2::{TokenStream, TokenTree};
use quote::quote;
use syn::parse::{Parse, ParseStream};

/// `#[distributed_lock(arguments)] item`
struct Annotated {
    arguments: TokenStream,
    item: TokenStream,
}

impl Parse for Annotated {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attribute = syn::Attribute::parse_outer(input)?.remove(0);
        Ok(Self {
            arguments: attribute.meta.require_list()?.tokens.clone(),
            item: input.parse()?,
        })
    }
}

fn is_method(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == "self",
        TokenTree::Group(group) => is_method(group.stream()),
        _ => false,
    })
}

fn expand(source: &str) -> String {
    let Annotated { arguments, item } = syn::parse_str(source).expect("an annotated function");
    let expanded = crate::attribute(arguments, item.clone());
    let expanded = if is_method(item) {
        quote!(impl Service { #expanded })
    } else {
        expanded
    };
    prettyplease::unparse(&syn::parse2(expanded).expect("the generated code is an item"))
}

#[test]
fn the_generated_code_is_what_was_agreed() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("expansions");
    let overwrite = env::var_os("EXPANSIONS").is_some_and(|value| value == "overwrite");
    let mut compared = 0;
    for entry in fs::read_dir(&folder).expect("the folder is there") {
        let path = entry.expect("the folder can be read").path();
        let name = path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if name.ends_with(".expanded") {
            continue;
        }
        let expanded = expand(&fs::read_to_string(&path).expect("the function can be read"));
        let kept = folder.join(format!("{name}.expanded.rs"));
        if overwrite {
            fs::write(&kept, &expanded).expect("the outcome can be written");
        }
        let expected = fs::read_to_string(&kept).unwrap_or_default();
        assert_eq!(expanded, expected, "{name}");
        compared += 1;
    }
    assert!(compared >= 10, "only {compared}");
}
