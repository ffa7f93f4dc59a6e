//! The request for locks: the arguments of the attribute as calls of the runtime's `Request`.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::LitStr;
use syn::spanned::Spanned;

use super::mixed_at;
use crate::function::Function;
use crate::key::Template;
use crate::plan::{Key, Keys, Lock, Mode, OnLost, Plan, Time, Wait};

/// The expression that makes the request.
pub(super) fn request(plan: &Plan, private: &TokenStream, function: &Function) -> TokenStream {
    let Plan {
        lock,
        mode,
        lease,
        max_hold,
        min_hold,
        linger,
        wait,
        on_lost,
        client,
        ..
    } = plan;
    let mode = match mode {
        Mode::Read => quote!(#private::LockMode::Read),
        Mode::Write => quote!(#private::LockMode::Write),
        Mode::Computed(mode) => mode.to_token_stream(),
    };
    let kind = match lock {
        Lock::Rw => None,
        Lock::Mutex => Some(quote!(.kind(#private::LockKind::Mutex))),
        Lock::FencedMutex => Some(quote!(.kind(#private::LockKind::FencedMutex))),
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
    let min_hold = min_hold
        .as_ref()
        .map(time)
        .map(|min_hold| quote!(.min_hold(#min_hold)));
    let linger = linger
        .as_ref()
        .map(time)
        .map(|linger| quote!(.linger(#linger)));
    let wait = wait.as_ref().map(|wait| match wait {
        Wait::None => quote!(.try_once()),
        Wait::Forever => quote!(.wait_forever()),
        Wait::For(length) => {
            let length = time(length);
            quote!(.wait(#length))
        }
    });
    let on_lost = (*on_lost == OnLost::Continue).then(|| quote!(.continue_when_lost()));
    let request = named(plan, &mode, private, function);
    quote!(#private::Request::#request #kind #client #lease #max_hold #min_hold #linger #wait #on_lost)
}

/// The function of `Request` that takes what is locked, and its arguments.
fn named(
    plan: &Plan,
    mode: &TokenStream,
    private: &TokenStream,
    function: &Function,
) -> TokenStream {
    match &plan.keys {
        Keys::One(key) => {
            let (name, label) = (key_value(key), label(plan, Some(key), function));
            quote!(new(#name, #label, #mode))
        }
        Keys::Several(keys) => {
            let keys = keys.iter().map(|key| {
                let (name, label) = (key_value(key), label(plan, Some(key), function));
                quote!(#private::name(#name, #label))
            });
            quote!(all([#(#keys),*], #mode))
        }
        Keys::Computed(keys) => {
            let label = label(plan, None, function);
            quote_spanned!(mixed_at(keys.span())=> each(#keys, #label, #mode))
        }
    }
}

/// What the metrics call the lock.
fn label(plan: &Plan, key: Option<&Key>, function: &Function) -> TokenStream {
    match (&plan.label, key) {
        (Some(label), _) => label.to_token_stream(),
        (None, Some(Key::Template(template))) => {
            // Not at the place of the literal, where it looks like a `format!` that was forgotten.
            LitStr::new(&template.literal.value(), Span::mixed_site()).to_token_stream()
        }
        (None, _) => {
            let name = function.signature.ident.to_string();
            quote!(::core::concat!(::core::module_path!(), "::", #name))
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
            quote!(&::core::format_args!(#format, #(#arguments),*))
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
