//! The body of the function: lock, run, release.

use proc_macro2::{Delimiter, Group, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{ReturnType, Type};

use super::erase::erase_impl_trait;
use super::failure::Failure;
use super::mixed_at;
use super::request::request;
use crate::function::{Function, Shape};
use crate::plan::{Lock, Plan};

/// `function` with its body under the lock.
pub(crate) fn expand(plan: &Plan, shape: Shape, function: &Function) -> TokenStream {
    let locked = Locked::new(plan, function);
    match shape {
        Shape::Async => {
            let output = output(&function.signature.output);
            function.with_body(&locked.body(&output, &function.body, function.body_span()))
        }
        Shape::Sync => {
            let output = output(&function.signature.output);
            function.with_body(&locked.blocking_body(&output, &function.body))
        }
        Shape::Boxed(mut boxed) => {
            let output = boxed.output.clone();
            if let Some(tail) = boxed.tail() {
                let statements = &tail.block.stmts;
                let span = tail.block.brace_token.span.join();
                let body = locked.body(&output, &quote!(#(#statements)*), span);
                tail.block = syn::parse_quote!({ #body });
            }
            let statements = boxed.block.stmts;
            function.with_body(&quote!(#(#statements)*))
        }
    }
}

/// The return type as it can be written in a body.
fn output(output: &ReturnType) -> Type {
    match output {
        ReturnType::Type(_, ty) => erase_impl_trait(ty),
        ReturnType::Default => syn::parse_quote!(()),
    }
}

/// The body of the function as a block, which is where the compiler points if its value is missing.
fn braced(body: TokenStream, span: Span) -> Group {
    let mut block = Group::new(Delimiter::Brace, body);
    block.set_span(mixed_at(span));
    block
}

/// Writes the parts of one function's body.
struct Locked<'a> {
    plan: &'a Plan,
    function: &'a Function,
    /// The path of the crate.
    krate: TokenStream,
    /// The path of its runtime.
    private: TokenStream,
}

impl<'a> Locked<'a> {
    fn new(plan: &'a Plan, function: &'a Function) -> Self {
        let krate = if let Some(krate) = &plan.krate {
            quote!(#krate)
        } else {
            quote!(::dlock)
        };
        Self {
            plan,
            function,
            private: quote!(#krate::__private),
            krate,
        }
    }

    /// Statements that lock, run `body` and release.
    fn body(&self, output: &Type, body: &TokenStream, span: Span) -> TokenStream {
        let acquired = self.acquired(&quote!(acquire().await));
        let failure = Failure::new(self.plan, &self.krate, &self.private, output);
        let (define, refused, lost) = (failure.define(), failure.refused(), failure.lost());
        let guard = self.guard();
        let block = quote_spanned! {Span::mixed_site()=>
            // Fixes the type of the block, so that the body is inferred as in the function.
            if let ::core::option::Option::Some(__dlock_output) = ::core::option::Option::None::<#output> {
                return __dlock_output;
            }
            #body
        };
        let block = braced(block, span);
        quote_spanned! {Span::mixed_site()=>
            #define
            match #acquired {
                ::core::result::Result::Ok(__dlock_grant) => {
                    #guard
                    let __dlock_run = __dlock_grant.run(async move #block);
                    match __dlock_run.await {
                        ::core::result::Result::Ok(__dlock_output) => __dlock_output,
                        #lost
                    }
                }
                #refused
            }
        }
    }

    /// The body of a function that is not async, which cannot be stopped.
    fn blocking_body(&self, output: &Type, body: &TokenStream) -> TokenStream {
        let acquired = self.acquired(&quote!(acquire_blocking()));
        let failure = Failure::new(self.plan, &self.krate, &self.private, output);
        let (define, refused) = (failure.define(), failure.refused());
        let guard = self.guard();
        let block = braced(body.clone(), self.function.body_span());
        // An `await` in the body is reported at the `fn` that lacks its `async`.
        let body = quote_spanned!(mixed_at(self.function.signature.fn_token.span)=> move || -> #output #block);
        quote_spanned! {Span::mixed_site()=>
            #define
            match #acquired {
                ::core::result::Result::Ok(__dlock_grant) => {
                    #guard
                    __dlock_grant.run_blocking(#body)
                }
                #refused
            }
        }
    }

    fn guard(&self) -> Option<TokenStream> {
        let guard = self.plan.guard.as_ref()?;
        let span = mixed_at(guard.span());
        // A plain mutex has no token, and neither has what its body gets.
        let held = match self.plan.lock {
            Lock::Rw | Lock::FencedMutex => quote_spanned!(span=> held()),
            Lock::Mutex => quote_spanned!(span=> mutex_held()),
        };
        Some(quote_spanned!(span=> let #guard = __dlock_grant.#held;))
    }

    /// The grant, or why there is none.
    fn acquired(&self, acquire: &TokenStream) -> TokenStream {
        let private = &self.private;
        let request = request(self.plan, private, self.function);
        let acquire = quote_spanned! {Span::mixed_site()=>
            let __dlock_request = #request;
            __dlock_request.#acquire
        };
        match &self.plan.when {
            None => quote!({ #acquire }),
            Some(when) => quote! {
                if #when {
                    { #acquire }.map(#private::Grant::optional)
                } else {
                    ::core::result::Result::Ok(#private::Grant::unlocked())
                }
            },
        }
    }
}
