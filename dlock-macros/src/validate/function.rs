//! Functions on which a lock makes sense.

use syn::{ReturnType, Signature, Type};

use crate::args::{Args, Name};
use crate::diagnostics::Diagnostics;
use crate::function::{Deferred, Function, Shape, deferred};

/// The shape of `function`, unless a lock around it would mean nothing.
pub(super) fn shape(function: &Function, args: &Args, faults: &mut Diagnostics) -> Option<Shape> {
    let signature = &function.signature;
    if !qualifiers(signature, faults) {
        return None;
    }
    let shape = Shape::of(function);
    if !finished(&shape, function, faults) {
        return None;
    }
    if args.get(Name::OnBusy).is_none() {
        returns_something(signature, faults);
    }
    Some(shape)
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

/// Whether the work is done when the lock is released.
fn finished(shape: &Shape, function: &Function, faults: &mut Diagnostics) -> bool {
    let output = match (shape, &function.signature.output) {
        (Shape::Boxed(boxed), _) => &boxed.output,
        (_, ReturnType::Type(_, ty)) => ty,
        (_, ReturnType::Default) => return true,
    };
    let Some(what) = deferred(output) else {
        let alias = matches!(shape, Shape::Sync) && Shape::ends_in_a_future(function);
        if alias {
            faults.at(
                output,
                "this function returns before the future it returns has run, so the lock would protect nothing; \
                 make it an `async fn`, or write the type out, as an alias is not seen through",
            );
        }
        return !alias;
    };
    faults.at(
        output,
        match what {
            Deferred::Future if matches!(shape, Shape::Sync) => {
                "this function returns before the future it returns has run, so the lock would protect nothing; \
                 make it an `async fn`"
            }
            Deferred::Future => {
                "the lock is released before the future in here has run, so it would protect nothing; \
                 await it in the function and return its output"
            }
            Deferred::Stream => {
                "the lock is released before the stream in here has been read, so it would protect nothing; \
                 return the collected items, or lock the function that reads them"
            }
            Deferred::Task => {
                "the lock is released before the task behind this handle has ended, so it would protect nothing; \
                 wait for it in the function and return its output, or lock the function that the task runs"
            }
        },
    );
    false
}
