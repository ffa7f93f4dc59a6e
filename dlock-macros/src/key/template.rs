//! A key with captures: `"order:{order_id}"`.

use syn::LitStr;

use super::Capture;

/// A key template, taken apart.
pub(crate) struct Template {
    /// As written; also the label of the lock's metrics.
    pub(crate) literal: LitStr,
    pub(crate) captures: Vec<Capture>,
    /// The template with its captures replaced by [`Template::name`]s.
    pub(crate) format: String,
}

impl Template {
    pub(crate) fn parse(literal: &LitStr) -> syn::Result<Self> {
        let fault = |message: &str| syn::Error::new(literal.span(), message);
        let text = literal.value();
        if text.is_empty() {
            return Err(fault(
                "a key cannot be empty; say what is locked, as in \"order:{order_id}\"",
            ));
        }
        let mut format = String::with_capacity(text.len());
        let mut captures = Vec::new();
        let mut rest = text.as_str();
        while let Some(at) = rest.find(['{', '}']) {
            format.push_str(&rest[..at]);
            rest = &rest[at..];
            if rest.starts_with("{{") || rest.starts_with("}}") {
                format.push_str(&rest[..2]);
                rest = &rest[2..];
            } else if let Some(inside) = rest.strip_prefix('{') {
                let (content, after) = inside.split_once('}').ok_or_else(|| {
                    fault("a `{` of this key is never closed; for a brace in the key write `{{`")
                })?;
                let capture = Capture::parse(content, literal.span())?;
                format.push('{');
                format.push_str(&Self::name(captures.len()));
                format.push_str(&capture.spec);
                format.push('}');
                captures.push(capture);
                rest = after;
            } else {
                return Err(fault(
                    "a `}` of this key closes nothing; for a brace in the key write `}}`",
                ));
            }
        }
        format.push_str(rest);
        Ok(Self {
            literal: literal.clone(),
            captures,
            format,
        })
    }

    /// What the capture at `index` is called in [`Template::format`].
    pub(crate) fn name(index: usize) -> String {
        format!("__dlock_{index}")
    }
}

#[cfg(test)]
mod tests {
    use proc_macro2::Span;
    use quote::ToTokens;

    use super::*;

    fn parse(text: &str) -> syn::Result<Template> {
        Template::parse(&LitStr::new(text, Span::call_site()))
    }

    fn fault(text: &str) -> String {
        parse(text).err().expect(text).to_string()
    }

    #[test]
    fn takes_captures_apart() {
        let template = parse("{{tenant:{self.tenant}}}:{order.id:05}/{items[0]}/{a::B:?}/{o.id()}")
            .expect("valid");
        assert_eq!(
            template.format,
            "{{tenant:{__dlock_0}}}:{__dlock_1:05}/{__dlock_2}/{__dlock_3:?}/{__dlock_4}"
        );
        let values: Vec<String> = template
            .captures
            .iter()
            .map(|capture| capture.value.to_token_stream().to_string().replace(' ', ""))
            .collect();
        assert_eq!(
            values,
            ["self.tenant", "order.id", "items[0]", "a::B", "o.id()"]
        );
        let roots: Vec<Option<String>> = template
            .captures
            .iter()
            .map(|capture| capture.root().map(ToString::to_string))
            .collect();
        let some = |name: &str| Some(name.to_owned());
        assert_eq!(
            roots,
            [some("self"), some("order"), some("items"), None, some("o")]
        );
    }

    #[test]
    fn keeps_a_key_without_captures() {
        let template = parse("nightly").unwrap_or_else(|fault| panic!("{fault}"));
        assert_eq!(template.format, "nightly");
        assert!(template.captures.is_empty());
    }

    #[test]
    fn says_what_is_wrong() {
        assert!(fault("").contains("cannot be empty"));
        assert!(fault("a{").contains("never closed"));
        assert!(fault("a}b").contains("closes nothing"));
        assert!(fault("a{}").contains("which value"));
        assert!(fault("a{0}").contains("which value"));
        assert!(fault("a{x + 1}").contains("not something a key can capture"));
        assert!(fault("a{:?}").contains("which value"));
    }
}
