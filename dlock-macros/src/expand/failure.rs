//! What the function returns when it did not have its lock, or has it no more.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, Type};

use crate::plan::Plan;

/// Writes the arms that match an error.
pub(super) struct Failure<'a> {
    on_busy: Option<&'a Expr>,
    krate: &'a TokenStream,
    private: &'a TokenStream,
    output: &'a Type,
}

impl<'a> Failure<'a> {
    pub(super) fn new(
        plan: &'a Plan,
        krate: &'a TokenStream,
        private: &'a TokenStream,
        output: &'a Type,
    ) -> Self {
        Self {
            on_busy: plan.on_busy.as_ref(),
            krate,
            private,
            output,
        }
    }

    /// Statements in front of the others.
    pub(super) fn define(&self) -> Option<TokenStream> {
        let Self {
            krate,
            private,
            output,
            ..
        } = self;
        // The bound on the return type is checked here, so here is where the compiler points.
        let report = quote_spanned! {output.span()=>
            #private::Report::new(
                <#output as #krate::FromLockError>::from_lock_error,
                <#output as #krate::FromLockError>::is_failure,
            )
        };
        self.reports()
            .then(|| quote_spanned!(Span::mixed_site()=> let __dlock_report = #report;))
    }

    /// The arms for a lock that was not had.
    pub(super) fn refused(&self) -> TokenStream {
        let private = self.private;
        let error = quote_spanned!(Span::mixed_site()=> __dlock_error);
        let busy = self.busy(&error);
        let report = quote_spanned!(Span::mixed_site()=> __dlock_report.refused(__dlock_error));
        match (busy, self.reports()) {
            (None, _) => quote_spanned! {Span::mixed_site()=>
                ::core::result::Result::Err(__dlock_error) => #report,
            },
            (Some(busy), true) => quote_spanned! {Span::mixed_site()=>
                ::core::result::Result::Err(__dlock_error) if #private::is_busy(&__dlock_error) => #busy,
                ::core::result::Result::Err(__dlock_error) => #report,
            },
            (Some(busy), false) => quote_spanned! {Span::mixed_site()=>
                ::core::result::Result::Err(__dlock_error) => #busy,
            },
        }
    }

    /// The arm for a lock that was lost, whether or not the body has returned something.
    pub(super) fn lost(&self) -> TokenStream {
        let error = quote_spanned!(Span::mixed_site()=> __dlock_loss.into_error());
        let value = match self.busy(&error) {
            Some(busy) if !self.reports() => busy,
            _ => quote_spanned!(Span::mixed_site()=> __dlock_report.lost(__dlock_loss)),
        };
        quote_spanned!(Span::mixed_site()=> ::core::result::Result::Err(__dlock_loss) => #value,)
    }

    fn busy(&self, error: &TokenStream) -> Option<TokenStream> {
        let private = self.private;
        let value = self.on_busy?;
        Some(if let Expr::Closure(_) = value {
            quote_spanned!(Span::mixed_site()=> #private::on_busy(#value, #error))
        } else {
            quote!(#value)
        })
    }

    /// Whether errors are returned. A closure decides about every failure itself; beside a value it takes
    /// a `Result`, and only the name of the type tells before types are known.
    fn reports(&self) -> bool {
        match self.on_busy {
            None => true,
            Some(Expr::Closure(_)) => false,
            Some(_) => is_called_result(self.output),
        }
    }
}

fn is_called_result(ty: &Type) -> bool {
    match ty {
        Type::Path(path) => path
            .path
            .segments
            .last()
            .is_some_and(|segment| segment.ident.to_string().ends_with("Result")),
        _ => false,
    }
}
