//! A key with captures: `"order:{order_id}"`.

use syn::LitStr;

use super::Capture;

/// The longest name of a lock: `MAX_NAME_BYTES` of the library.
const LONGEST: usize = 512;

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
        let mut plain = String::new();
        let mut rest = text.as_str();
        while let Some(at) = rest.find(['{', '}']) {
            format.push_str(&rest[..at]);
            plain.push_str(&rest[..at]);
            rest = &rest[at..];
            if rest.starts_with("{{") || rest.starts_with("}}") {
                format.push_str(&rest[..2]);
                plain.push_str(&rest[..1]);
                rest = &rest[2..];
            } else if let Some(inside) = rest.strip_prefix('{') {
                let (content, after) = inside.split_once('}').ok_or_else(|| {
                    fault(
                        "a `{` of this key is never closed; around a hash tag write `{{` and `}}`",
                    )
                })?;
                let capture = Capture::parse(content, literal.span())?;
                format.push('{');
                format.push_str(&Self::name(captures.len()));
                format.push_str(&capture.spec);
                format.push('}');
                plain.push(CAPTURED);
                captures.push(capture);
                rest = after;
            } else {
                return Err(fault(
                    "a `}` of this key closes nothing; around a hash tag write `{{` and `}}`",
                ));
            }
        }
        format.push_str(rest);
        plain.push_str(rest);
        if plain.len() - captures.len() * CAPTURED.len_utf8() > LONGEST {
            return Err(fault(
                "this key is longer than 512 bytes; use an id or a hash of the long part",
            ));
        }
        if let Some(why) = broken_tag(&plain) {
            return Err(fault(why));
        }
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

/// Stands for a capture where only braces matter.
const CAPTURED: char = '\0';

/// Why the braces of a key make no hash tag. Such a name would be refused at each call.
fn broken_tag(plain: &str) -> Option<&'static str> {
    let Some((_, behind)) = plain.split_once('{') else {
        return plain.contains('}').then_some(
            "a `}}` of this key has no `{{` before it; a hash tag is written \"{{tenant:7}}:order:{order_id}\", \
             and other keys have no braces",
        );
    };
    match behind.split_once('}') {
        None => Some(
            "a `{{` of this key is never closed by `}}`; a hash tag is written \"{{tenant:7}}:order:{order_id}\", \
             and other keys have no braces",
        ),
        Some(("", _)) => Some(
            "the `{{}}` of this key is an empty hash tag; write into it what the lock shares its slot with, \
             as in \"{{tenant:7}}:order:{order_id}\"",
        ),
        Some(_) => None,
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
        assert!(fault("{{a:{b}").contains("never closed by"));
        assert!(fault("a}}:{b}").contains("before it"));
        assert!(fault("a}}{{b").contains("never closed by"));
        assert!(fault("{{}}:{b}").contains("empty hash tag"));
        assert!(parse("{{{b}}}:c").is_ok());
    }
}
