//! Decides whether the arguments make sense, together and for this function.

mod function;
mod key;
mod lock;
mod time;
mod value;

use syn::{Expr, Ident};

use crate::args::{Args, Name};
use crate::diagnostics::Diagnostics;
use crate::function::{Function, Shape, bindings};
use crate::plan::Plan;

/// The plan and the shape of the function; `None` after a fault, which is in `faults`.
pub(crate) fn validate(
    args: &Args,
    function: &Function,
    faults: &mut Diagnostics,
) -> Option<(Plan, Shape)> {
    let bound = bindings(&function.signature);
    let scope = Scope {
        args,
        bound: &bound,
    };
    // Everything is looked at before anything gives up: all faults are reported at once.
    let shape = function::shape(function, args, faults);
    let keys = scope.keys(faults);
    let lease = scope.lease(faults);
    let max_hold = scope.max_hold(lease.as_ref(), faults);
    let min_hold = scope.min_hold(max_hold.as_ref(), faults);
    let lock = scope.lock(faults);
    let mode = scope.mode(lock, faults);
    let linger = scope.linger(lock, min_hold.as_ref(), faults);
    let wait = scope.wait(faults);
    let on_lost = scope.on_lost(shape.as_ref(), faults);
    let on_busy = scope.on_busy(faults);
    let guard = scope.guard(faults);
    let label = scope.label(faults);
    let krate = scope.krate(faults);
    let plan = Plan {
        keys: keys?,
        lock: lock.unwrap_or_default(),
        mode,
        lease,
        max_hold,
        min_hold,
        linger,
        wait,
        on_lost,
        on_busy,
        when: scope.expression(Name::When),
        guard,
        client: scope.expression(Name::Client),
        label,
        krate,
    };
    Some((plan, shape?))
}

/// The arguments of the attribute and what the function's arguments are called.
struct Scope<'a> {
    args: &'a Args,
    bound: &'a [Ident],
}

impl Scope<'_> {
    /// The value of an argument that takes any expression.
    fn expression(&self, name: Name) -> Option<Expr> {
        self.args.get(name).map(|arg| arg.value.clone())
    }

    fn binds(&self, ident: &Ident) -> bool {
        self.bound.contains(ident)
    }
}
