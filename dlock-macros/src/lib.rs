//! The `#[distributed_lock]` attribute of the `dlock` crate, which re-exports it.

mod args;
mod diagnostics;
mod duration;
mod expand;
#[cfg(test)]
mod expansions;
mod function;
mod key;
mod plan;
mod suggest;
mod validate;

use proc_macro2::TokenStream;

use crate::args::Args;
use crate::diagnostics::Diagnostics;
use crate::function::Function;

/// Runs a function under a distributed lock. The `dlock` crate documents it where it re-exports it.
#[proc_macro_attribute]
pub fn distributed_lock(
    arguments: proc_macro::TokenStream,
    item: proc_macro::TokenStream,
) -> proc_macro::TokenStream {
    attribute(arguments.into(), item.into()).into()
}

fn attribute(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let mut faults = Diagnostics::default();
    let args = Args::parse(arguments, &mut faults);
    let function = faults.keep(syn::parse2::<Function>(item.clone()));
    let expanded = function.and_then(|function| {
        let (plan, shape) = validate::validate(&args, &function, &mut faults)?;
        Some(expand::expand(&plan, shape, &function))
    });
    match (faults.into_compile_errors(), expanded) {
        (None, Some(expanded)) => expanded,
        // The function stays, so that its callers have no errors of their own.
        (errors, _) => errors.into_iter().chain([item]).collect(),
    }
}
