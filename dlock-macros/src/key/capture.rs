//! One `{...}` of a key template.

use proc_macro2::Span;
use syn::ext::IdentExt;
use syn::{Expr, Ident, LitStr, parse_quote};

/// A value written into the key: `{order.id:05}`.
pub(crate) struct Capture {
    /// The formatted value: `order.id`.
    pub(crate) value: Expr,
    /// How, with its colon, or nothing: `:05`.
    pub(crate) spec: String,
}

impl Capture {
    /// Reads what stands between the braces.
    pub(crate) fn parse(content: &str, span: Span) -> syn::Result<Self> {
        let fault = |message| syn::Error::new(span, message);
        let (value, spec) = split_spec(content);
        let value = value.trim();
        if value.is_empty() || value.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(fault(format!(
                "`{{{content}}}` does not say which value belongs here; \
                 name an argument, as in `{{order_id}}`"
            )));
        }
        let literal = LitStr::new(value, span);
        let place = literal.parse::<Expr>().ok().filter(is_place);
        match place.or_else(|| keyword(&literal)) {
            Some(value) => Ok(Self {
                value,
                spec: spec.to_owned(),
            }),
            None => Err(fault(format!(
                "`{{{content}}}` is not something a key can capture; a capture is an argument, \
                 a field, an element or a method call, as in `{{id}}`, `{{self.tenant}}`, \
                 `{{items[0]}}`, `{{order.id()}}`; \
                 for more write `key = format!(..)`"
            ))),
        }
    }

    /// The variable that the value starts from, if it is one: `order` of `order.id`.
    pub(crate) fn root(&self) -> Option<&Ident> {
        let mut value = &self.value;
        loop {
            value = match value {
                Expr::Field(field) => &field.base,
                Expr::Index(index) => &index.expr,
                Expr::MethodCall(call) => &call.receiver,
                Expr::Path(path) => return path.path.get_ident(),
                _ => return None,
            };
        }
    }
}

/// `r#type`, which captures call `type`.
fn keyword(literal: &LitStr) -> Option<Expr> {
    let word = literal.parse_with(Ident::parse_any).ok()?;
    let has_raw = !matches!(word.to_string().as_str(), "_" | "true" | "false");
    let raw = has_raw.then(|| Ident::new_raw(&word.to_string(), word.span()))?;
    Some(parse_quote!(#raw))
}

/// Cuts at the colon of the format spec, which is not the one of a path.
fn split_spec(content: &str) -> (&str, &str) {
    let bytes = content.as_bytes();
    let mut depth = 0_usize;
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'(' | b'[' => depth += 1,
            b')' | b']' => depth = depth.saturating_sub(1),
            b':' if bytes.get(at + 1) == Some(&b':') => at += 1,
            b':' if depth == 0 => return content.split_at(at),
            _ => {}
        }
        at += 1;
    }
    (content, "")
}

fn is_place(value: &Expr) -> bool {
    match value {
        Expr::Path(path) => path.attrs.is_empty(),
        Expr::Field(field) => is_place(&field.base),
        Expr::Index(index) => is_place(&index.expr),
        Expr::MethodCall(call) => is_place(&call.receiver),
        _ => false,
    }
}
