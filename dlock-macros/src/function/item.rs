//! A function, with its body left as tokens.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, TokenStreamExt};
use syn::parse::{Parse, ParseStream};
use syn::token::Brace;
use syn::{Attribute, Ident, Signature, Token, Visibility, braced};

/// The body stays unparsed, so that a fault in it is reported by the compiler, at its place.
pub(crate) struct Function {
    attributes: Vec<Attribute>,
    visibility: Visibility,
    defaultness: Option<Ident>,
    pub(crate) signature: Signature,
    brace: Brace,
    inner_attributes: Vec<Attribute>,
    pub(crate) body: TokenStream,
}

impl Parse for Function {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        let defaultness = parse_default(input)?;
        if input.fork().parse::<Signature>().is_err() {
            return Err(not_a_function(input));
        }
        let signature: Signature = input.parse()?;
        if input.peek(Token![;]) {
            return Err(syn::Error::new_spanned(
                &signature,
                "this method has no body to lock; \
                 put `#[distributed_lock(..)]` on the method of each implementation",
            ));
        }
        let content;
        let brace = braced!(content in input);
        Ok(Self {
            attributes,
            visibility,
            defaultness,
            signature,
            brace,
            inner_attributes: content.call(Attribute::parse_inner)?,
            body: content.parse()?,
        })
    }
}

impl Function {
    /// Where the body is.
    pub(crate) fn body_span(&self) -> Span {
        self.brace.span.join()
    }

    /// This function with another body.
    pub(crate) fn with_body(&self, body: &TokenStream) -> TokenStream {
        let mut tokens = TokenStream::new();
        tokens.append_all(&self.attributes);
        self.visibility.to_tokens(&mut tokens);
        self.defaultness.to_tokens(&mut tokens);
        self.signature.to_tokens(&mut tokens);
        self.brace.surround(&mut tokens, |tokens| {
            tokens.append_all(&self.inner_attributes);
            body.to_tokens(tokens);
        });
        tokens
    }
}

/// `default fn`, which only some compilers know but every attribute may meet.
fn parse_default(input: ParseStream<'_>) -> syn::Result<Option<Ident>> {
    let next: Option<Ident> = input.fork().parse().ok();
    if next.is_some_and(|ident| ident == "default") {
        input.parse().map(Some)
    } else {
        Ok(None)
    }
}

fn not_a_function(input: ParseStream<'_>) -> syn::Error {
    let hint = if input.peek(Token![impl]) {
        "; put it on the methods of this `impl`"
    } else if input.peek(Token![trait]) {
        "; put it on the methods of the implementations of this `trait`"
    } else {
        ""
    };
    input.error(format!(
        "`#[distributed_lock]` goes on a function with a body{hint}"
    ))
}
