//! Functions on which a lock makes sense.

use syn::{ReturnType, Signature, Type};

use crate::args::{Args, Name};
use crate::diagnostics::Diagnostics;
use crate::function::{Function, Shape};

/// The shape of `function`, unless a lock around it would mean nothing.
pub(super) fn shape(function: &Function, args: &Args, faults: &mut Diagnostics) -> Option<Shape> {
    let signature = &function.signature;
    if !qualifiers(signature, faults) {
        return None;
    }
    if let Some(shape) = Shape::of(function) {
        if args.get(Name::OnBusy).is_none() {
            returns_something(signature, faults);
        }
        Some(shape)
    } else {
        not_async(signature, faults);
        None
    }
}

/// Whether the function may be locked by its qualifiers.
fn qualifiers(signature: &Signature, faults: &mut Diagnostics) -> bool {
    if let Some(constness) = &signature.constness {
        faults.at(
            constness,
            "a `const fn` cannot take a lock: it may run while the program is compiled; remove `const`",
        );
    }
    if let Some(abi) = &signature.abi {
        faults.at(
            abi,
            "an `extern` function cannot tell its caller that the lock was not had; \
             lock a Rust function and call that one",
        );
    }
    signature.constness.is_none() && signature.abi.is_none()
}

fn returns_something(signature: &Signature, faults: &mut Diagnostics) {
    let nothing = match &signature.output {
        ReturnType::Default => true,
        ReturnType::Type(_, ty) => matches!(&**ty, Type::Tuple(tuple) if tuple.elems.is_empty()),
    };
    if nothing {
        let name = &signature.ident;
        let message = format!(
            "`{name}` returns nothing, so it cannot tell its caller that the lock was not had; \
             return `Result<(), E>` with `E: From<dlock::Error>`, \
             or say what to return then, as in `on_busy = ()`"
        );
        match &signature.output {
            ReturnType::Default => faults.at(name, message),
            ReturnType::Type(_, ty) => faults.at(ty, message),
        }
    }
}

fn not_async(signature: &Signature, faults: &mut Diagnostics) {
    match &signature.output {
        ReturnType::Type(_, ty) if matches!(**ty, Type::ImplTrait(_)) => faults.at(
            ty,
            "this function returns before the future it returns has run, so the lock would protect nothing; \
             make it an `async fn`",
        ),
        _ => faults.at(
            signature.fn_token,
            "`#[distributed_lock]` waits for the lock, so it needs an `async fn`",
        ),
    }
}
