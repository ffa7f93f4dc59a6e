//! `lease`, `max_hold`, `min_hold`, `linger` and `wait`.

use std::time::Duration;

use syn::{Expr, Lit};

use super::Scope;
use crate::args::{Arg, Name};
use crate::diagnostics::Diagnostics;
use crate::duration;
use crate::plan::{Lock, Time, Wait};

/// The limits of a lease: `MIN_LEASE` and `MAX_LEASE` of the library.
const SHORTEST: Duration = Duration::from_millis(200);
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);
/// `MAX_LINGER` of the library.
const LONGEST_LINGER: Duration = Duration::from_secs(60);

impl Scope<'_> {
    pub(super) fn lease(&self, faults: &mut Diagnostics) -> Option<Time> {
        let arg = self.args.get(Name::Lease)?;
        let lease = faults.keep(time(arg))?;
        match lease {
            Time::Literal(Duration::ZERO) => faults.at(
                &arg.value,
                "a lease of zero is over before the body starts; \
                 it has to outlast a failed renewal or two, as `lease = \"30s\"` does",
            ),
            Time::Literal(lease) if lease < SHORTEST => faults.at(
                &arg.value,
                "a lease below 200ms cannot be renewed in time; \
                 it has to outlast a failed renewal or two, as `lease = \"30s\"` does",
            ),
            Time::Literal(lease) if lease > LONGEST => faults.at(
                &arg.value,
                "a lease above 24h keeps others out for longer than a day when its holder crashes; \
                 choose a shorter one: it is renewed for as long as the body runs",
            ),
            _ => {}
        }
        Some(lease)
    }

    pub(super) fn max_hold(&self, lease: Option<&Time>, faults: &mut Diagnostics) -> Option<Time> {
        let arg = self.args.get(Name::MaxHold)?;
        let max_hold = faults.keep(time(arg))?;
        match (&max_hold, lease) {
            (Time::Literal(Duration::ZERO), _) => faults.at(
                &arg.value,
                "a lock that may not be held at all cannot be had; write for instance `max_hold = \"5m\"`",
            ),
            (Time::Literal(max_hold), Some(Time::Literal(lease))) if max_hold < lease => faults.at(
                &arg.value,
                "`max_hold` is shorter than `lease`; for a lock that is never renewed make them equal",
            ),
            (Time::Literal(max_hold), _) if *max_hold < SHORTEST => faults.at(
                &arg.value,
                "`max_hold` is shorter than the shortest lease, 200ms; write for instance `max_hold = \"5m\"`",
            ),
            _ => {}
        }
        Some(max_hold)
    }

    pub(super) fn min_hold(
        &self,
        max_hold: Option<&Time>,
        faults: &mut Diagnostics,
    ) -> Option<Time> {
        let arg = self.args.get(Name::MinHold)?;
        let min_hold = faults.keep(time(arg))?;
        match (&min_hold, max_hold) {
            (Time::Literal(min_hold), _) if *min_hold > LONGEST => faults.at(
                &arg.value,
                "`min_hold` is longer than the longest lease, 24h; write down that the work was done where it has to \
                 be remembered for longer",
            ),
            (Time::Literal(min_hold), Some(Time::Literal(max_hold))) if max_hold < min_hold => {
                faults.at(
                    &arg.value,
                    "`min_hold` is longer than `max_hold`, after which the lock is given up",
                );
            }
            _ => {}
        }
        Some(min_hold)
    }

    /// For a lock of this kind, if that is known.
    pub(super) fn linger(
        &self,
        lock: Option<Lock>,
        min_hold: Option<&Time>,
        faults: &mut Diagnostics,
    ) -> Option<Time> {
        let arg = self.args.get(Name::Linger)?;
        if lock.is_some_and(|lock| lock != Lock::Rw) {
            faults.at(
                &arg.value,
                "a mutex cannot linger, as programs in other languages could not ask for it; leave `linger` out, or \
                 write `lock = \"rw\"`",
            );
        }
        let linger = faults.keep(time(arg))?;
        if matches!(linger, Time::Literal(linger) if linger > LONGEST_LINGER) {
            faults.at(
                &arg.value,
                "`linger` is longer than 60s; choose a shorter one: it begins anew with each call that uses the lock",
            );
        }
        // Zero switches either of them off.
        let is_on = |time: &Time| !matches!(time, Time::Literal(Duration::ZERO));
        if is_on(&linger) && min_hold.is_some_and(is_on) {
            faults.at(
                &arg.value,
                "`min_hold` gives each call a hold of its own, so none can `linger` for the next call; leave one of the \
                 two out",
            );
        }
        Some(linger)
    }

    pub(super) fn wait(&self, faults: &mut Diagnostics) -> Option<Wait> {
        let arg = self.args.get(Name::Wait)?;
        match arg.string().map(syn::LitStr::value).as_deref() {
            Some("none") => Some(Wait::None),
            Some("forever") => Some(Wait::Forever),
            Some(other) if !other.starts_with(|first: char| first.is_ascii_digit()) => {
                faults.at(
                    &arg.value,
                    format!(
                        "`{other}` is not a time to wait; write \"5s\", \"forever\" or \"none\""
                    ),
                );
                None
            }
            _ => match faults.keep(time(arg))? {
                Time::Literal(Duration::ZERO) => Some(Wait::None),
                wait => Some(Wait::For(wait)),
            },
        }
    }
}

fn time(arg: &Arg) -> syn::Result<Time> {
    let fault = |message: String| syn::Error::new_spanned(&arg.value, message);
    let Expr::Lit(literal) = &arg.value else {
        return Ok(Time::Computed(arg.value.clone()));
    };
    match &literal.lit {
        Lit::Str(text) => duration::parse(&text.value())
            .map(Time::Literal)
            .map_err(fault),
        _ => Err(fault(format!(
            "`{}` needs a unit and quotes, as in `{}`",
            arg.name.text(),
            arg.name.example()
        ))),
    }
}
