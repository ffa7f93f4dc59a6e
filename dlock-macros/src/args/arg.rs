//! `name = value, name = value`.

use proc_macro2::{Span, TokenStream, TokenTree};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::{Expr, Ident, Lit, LitStr, Token};

use super::Name;
use crate::diagnostics::Diagnostics;

/// One argument.
pub(crate) struct Arg {
    pub(crate) name: Name,
    pub(crate) span: Span,
    pub(crate) value: Expr,
}

/// The arguments of one attribute, each at most once.
#[derive(Default)]
pub(crate) struct Args {
    args: Vec<Arg>,
    incomplete: bool,
}

impl Args {
    /// Reads every argument that can be read and records what is wrong with the others.
    pub(crate) fn parse(tokens: TokenStream, faults: &mut Diagnostics) -> Self {
        let mut args = Self::default();
        let parsed = (|input: ParseStream<'_>| {
            while !input.is_empty() {
                match Arg::parse(input).and_then(|arg| expect_comma(input).map(|()| arg)) {
                    Ok(arg) => args.add(arg, faults),
                    Err(fault) => {
                        faults.push(fault);
                        args.incomplete = true;
                        skip_to_comma(input)?;
                    }
                }
                input.parse::<Option<Token![,]>>()?;
            }
            Ok(())
        })
        .parse2(tokens);
        faults.keep(parsed);
        args
    }

    /// The argument called `name`, if it was written.
    pub(crate) fn get(&self, name: Name) -> Option<&Arg> {
        self.args.iter().find(|arg| arg.name == name)
    }

    /// Whether an argument could not be read.
    pub(crate) fn incomplete(&self) -> bool {
        self.incomplete
    }

    fn add(&mut self, arg: Arg, faults: &mut Diagnostics) {
        if self.get(arg.name).is_some() {
            let name = arg.name.text();
            faults.push(syn::Error::new(
                arg.span,
                format!("`{name}` is given twice; keep one of them"),
            ));
        } else {
            self.args.push(arg);
        }
    }
}

impl Arg {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if input.peek(Lit) {
            let value: Lit = input.parse()?;
            return Err(syn::Error::new_spanned(
                &value,
                "this value has no name; to say what is locked write `key = ..`",
            ));
        }
        let ident = input.call(Ident::parse_any).map_err(|fault| {
            syn::Error::new(
                fault.span(),
                "expected an argument, as in `key = \"order:{order_id}\"`",
            )
        })?;
        let text = ident.to_string();
        let Some(name) = Name::find(&text) else {
            return Err(syn::Error::new_spanned(&ident, Name::unknown(&text)));
        };
        let span = ident.span();
        if input.parse::<Token![=]>().is_err() {
            let message = format!("`{text}` needs a value, as in `{}`", name.example());
            return Err(syn::Error::new(span, message));
        }
        if input.is_empty() || input.peek(Token![,]) {
            let message = format!("`{text} =` lacks its value, as in `{}`", name.example());
            return Err(syn::Error::new(span, message));
        }
        let value = ungroup(input.parse()?);
        Ok(Self { name, span, value })
    }

    /// The value if it is a string literal.
    pub(crate) fn string(&self) -> Option<&LitStr> {
        string(&self.value)
    }
}

/// `value` if it is a string literal.
pub(crate) fn string(value: &Expr) -> Option<&LitStr> {
    match value {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Str(string) => Some(string),
            _ => None,
        },
        Expr::Group(group) => string(&group.expr),
        _ => None,
    }
}

/// Removes the invisible group around a value that a `macro_rules!` passed in.
fn ungroup(mut value: Expr) -> Expr {
    while let Expr::Group(group) = value {
        value = *group.expr;
    }
    value
}

fn expect_comma(input: ParseStream<'_>) -> syn::Result<()> {
    if input.is_empty() || input.peek(Token![,]) {
        Ok(())
    } else {
        Err(input.error("expected `,` between two arguments"))
    }
}

/// Skips what is left of an argument whose fault has been recorded.
fn skip_to_comma(input: ParseStream<'_>) -> syn::Result<()> {
    while !input.is_empty() && !input.peek(Token![,]) {
        input.parse::<TokenTree>()?;
    }
    Ok(())
}
