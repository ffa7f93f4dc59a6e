//! `on_lost`, `on_busy`, `guard` and `crate`.

use syn::{Expr, Ident, Path};

use super::Scope;
use crate::args::{Arg, Name};
use crate::diagnostics::Diagnostics;
use crate::function::Shape;
use crate::plan::OnLost;

impl Scope<'_> {
    pub(super) fn on_lost(&self, shape: Option<&Shape>, faults: &mut Diagnostics) -> OnLost {
        let Some(arg) = self.args.get(Name::OnLost) else {
            return OnLost::default();
        };
        match arg.string().map(syn::LitStr::value).as_deref() {
            Some("cancel") if matches!(shape, Some(Shape::Sync)) => {
                faults.at(
                    &arg.value,
                    "a function that is not `async` cannot be stopped; make it async, or name the guard \
                     with `guard = lock` and write `lock.check()?` before each step that matters",
                );
                OnLost::default()
            }
            Some("cancel") => OnLost::Cancel,
            Some("continue") => OnLost::Continue,
            _ => {
                faults.at(
                    &arg.value,
                    "write `on_lost = \"cancel\"` to stop the body when the lease is lost, \
                     or `on_lost = \"continue\"` to let it run on",
                );
                OnLost::default()
            }
        }
    }

    pub(super) fn on_busy(&self, faults: &mut Diagnostics) -> Option<Expr> {
        let arg = self.args.get(Name::OnBusy)?;
        if let Expr::Closure(_) = &arg.value {
            return Some(arg.value.clone()); // It answers for other failures as well.
        }
        let wait = self.args.get(Name::Wait).and_then(Arg::string);
        if wait.is_some_and(|wait| wait.value() == "forever") {
            faults.at(
                &arg.value,
                "`on_busy` never happens while `wait = \"forever\"`; give `wait` an end, as in `wait = \"5s\"`",
            );
        }
        if self.args.get(Name::Wait).is_none() {
            faults.at(
                &arg.value,
                "`on_busy` never happens without `wait`; add `wait = \"none\"` or for instance `wait = \"5s\"`",
            );
        }
        Some(arg.value.clone())
    }

    pub(super) fn guard(&self, faults: &mut Diagnostics) -> Option<Ident> {
        let arg = self.args.get(Name::Guard)?;
        match ident(&arg.value) {
            Some(guard) if self.binds(guard) => {
                faults.at(
                    guard,
                    format!("the function has an argument `{guard}` already; give the guard another name"),
                );
                None
            }
            Some(guard) => Some(guard.clone()),
            None => {
                faults.at(
                    &arg.value,
                    "`guard` names a variable of the body, as in `guard = lock`, without quotes",
                );
                None
            }
        }
    }

    pub(super) fn krate(&self, faults: &mut Diagnostics) -> Option<Path> {
        let arg = self.args.get(Name::Crate)?;
        match &arg.value {
            Expr::Path(path) if path.qself.is_none() => Some(path.path.clone()),
            value => {
                faults.at(
                    value,
                    "`crate` is the path under which `dlock` is found, as in `crate = my_crate::dlock`, without quotes",
                );
                None
            }
        }
    }
}

/// `value` if it is one plain name.
pub(super) fn ident(value: &Expr) -> Option<&Ident> {
    match value {
        Expr::Path(path) if path.qself.is_none() => path.path.get_ident(),
        _ => None,
    }
}
