//! The generated code. It is thin: what it does is in the crate's `__private` module.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{LitStr, ReturnType, Type};

use crate::erase::erase_impl_trait;
use crate::failure::Failure;
use crate::function::{Function, Shape};
use crate::key::Template;
use crate::plan::{Key, Mode, OnLost, Plan, Time, Wait};

/// `function` with its body under the lock.
pub(crate) fn expand(plan: &Plan, shape: Shape, function: &Function) -> TokenStream {
    let locked = Locked::new(plan, function);
    match shape {
        Shape::Async => {
            let output = match &function.signature.output {
                ReturnType::Type(_, ty) => erase_impl_trait(ty),
                ReturnType::Default => syn::parse_quote!(()),
            };
            function.with_body(&locked.body(&output, &function.body))
        }
        Shape::Boxed(mut boxed) => {
            let output = boxed.output.clone();
            if let Some(tail) = boxed.tail() {
                let statements = &tail.block.stmts;
                let body = locked.body(&output, &quote!(#(#statements)*));
                tail.block = syn::parse_quote!({ #body });
            }
            let statements = boxed.block.stmts;
            function.with_body(&quote!(#(#statements)*))
        }
    }
}

/// Writes the parts of one function's body.
struct Locked<'a> {
    plan: &'a Plan,
    function: &'a Function,
    /// The path of the runtime.
    private: TokenStream,
}

impl<'a> Locked<'a> {
    fn new(plan: &'a Plan, function: &'a Function) -> Self {
        let private = if let Some(krate) = &plan.krate {
            quote!(#krate::__private)
        } else {
            quote!(::dlock::__private)
        };
        Self {
            plan,
            function,
            private,
        }
    }

    /// Statements that lock, run `body` and release.
    fn body(&self, output: &Type, body: &TokenStream) -> TokenStream {
        let acquired = self.acquired();
        let failure = Failure::new(self.plan, &self.private, output);
        let (define, refused, lost) = (failure.define(), failure.refused(), failure.lost());
        let guard = self.plan.guard.as_ref().map(
            |guard| quote_spanned!(mixed_at(guard.span())=> let #guard = __dlock_grant.held();),
        );
        quote_spanned! {Span::mixed_site()=>
            #define
            match #acquired {
                ::core::result::Result::Ok(__dlock_grant) => {
                    #guard
                    let __dlock_run = __dlock_grant.run(async move {
                        // Fixes the type of the block, so that the body is inferred as in the function.
                        if let ::core::option::Option::Some(__dlock_output) = ::core::option::Option::None::<#output> {
                            return __dlock_output;
                        }
                        #body
                    });
                    match __dlock_run.await {
                        ::core::result::Result::Ok(__dlock_output) => __dlock_output,
                        #lost
                    }
                }
                #refused
            }
        }
    }

    /// The grant, or why there is none.
    fn acquired(&self) -> TokenStream {
        let private = &self.private;
        let request = self.request();
        let acquire = quote_spanned! {Span::mixed_site()=>
            let __dlock_request = #request;
            __dlock_request.acquire().await
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

    fn request(&self) -> TokenStream {
        let Plan {
            key,
            mode,
            lease,
            max_hold,
            wait,
            on_lost,
            client,
            ..
        } = self.plan;
        let private = &self.private;
        let (key, label) = (key_value(key), self.label(key));
        let mode = match mode {
            Mode::Read => quote!(#private::Mode::Read),
            Mode::Write => quote!(#private::Mode::Write),
            Mode::Computed(mode) => mode.to_token_stream(),
        };
        let client = client.as_ref().map(|client| {
            // Borrowed at its own place, so that the compiler points there.
            let client = quote_spanned!(mixed_at(client.span())=> &#client);
            quote!(.client(#client))
        });
        let lease = lease.as_ref().map(time).map(|lease| quote!(.lease(#lease)));
        let max_hold = max_hold
            .as_ref()
            .map(time)
            .map(|max_hold| quote!(.max_hold(#max_hold)));
        let wait = wait.as_ref().map(|wait| match wait {
            Wait::None => quote!(.try_once()),
            Wait::Forever => quote!(.wait_forever()),
            Wait::For(length) => {
                let length = time(length);
                quote!(.wait(#length))
            }
        });
        let on_lost = (*on_lost == OnLost::Continue).then(|| quote!(.continue_when_lost()));
        quote!(#private::Request::new(#key, #label, #mode) #client #lease #max_hold #wait #on_lost)
    }

    fn label(&self, key: &Key) -> TokenStream {
        match (&self.plan.label, key) {
            (Some(label), _) => label.to_token_stream(),
            (None, Key::Template(template)) => {
                // Not at the place of the literal, where it looks like a `format!` that was forgotten.
                LitStr::new(&template.literal.value(), Span::mixed_site()).to_token_stream()
            }
            (None, Key::Computed(_)) => {
                let name = self.function.signature.ident.to_string();
                quote!(::core::concat!(::core::module_path!(), "::", #name))
            }
        }
    }
}

fn key_value(key: &Key) -> TokenStream {
    match key {
        Key::Computed(value) => quote_spanned!(mixed_at(value.span())=> &#value),
        Key::Template(template) if template.captures.is_empty() => {
            let text = template.format.replace("{{", "{").replace("}}", "}");
            LitStr::new(&text, template.literal.span()).to_token_stream()
        }
        Key::Template(template) => {
            let format = LitStr::new(&template.format, template.literal.span());
            let arguments = template
                .captures
                .iter()
                .enumerate()
                .map(|(index, capture)| {
                    let name =
                        format_ident!("{}", Template::name(index), span = template.literal.span());
                    let value = &capture.value;
                    quote!(#name = #value)
                });
            quote!(&::std::format!(#format, #(#arguments),*))
        }
    }
}

fn time(time: &Time) -> TokenStream {
    match time {
        Time::Literal(length) => {
            let (seconds, nanos) = (length.as_secs(), length.subsec_nanos());
            quote!(::core::time::Duration::new(#seconds, #nanos))
        }
        Time::Computed(length) => length.to_token_stream(),
    }
}

fn mixed_at(span: Span) -> Span {
    Span::mixed_site().located_at(span)
}
