//! The paths in a source, taken from its tokens: comments and strings say nothing, and what stands in macros counts.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// Names from the crate's root.
pub(crate) type Path = Vec<String>;

/// A path that a module spells.
#[derive(Debug)]
pub(crate) struct Spelled {
    /// The module, which may be one inside a file.
    pub(crate) module: Path,
    pub(crate) path: Path,
    /// What a `use` calls it here.
    pub(crate) alias: Option<String>,
    /// Whether it is there for unit tests only.
    pub(crate) test: bool,
}

/// Where we are.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) module: Path,
    pub(crate) test: bool,
}

/// The paths in the tokens of one file.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) spelled: Vec<Spelled>,
    /// Modules inside the file, and those of other files that are for tests only.
    pub(crate) inner: Vec<Path>,
    pub(crate) tests: Vec<Path>,
}

/// Looks through tokens that stand in a module.
pub(crate) fn find(tokens: TokenStream, place: &Place, found: &mut Found) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut test = place.test;
    let mut at = 0;
    while at < tokens.len() {
        let here = Place {
            module: place.module.clone(),
            test,
        };
        match &tokens[at] {
            TokenTree::Group(group) => {
                test |= group.stream().to_string().replace(' ', "") == "cfg(test)";
                find(group.stream(), &here, found);
                // An attribute says something of the item that follows, which ends here or at its semicolon.
                if group.delimiter() == Delimiter::Brace {
                    test = place.test;
                }
            }
            TokenTree::Punct(punct) if punct.as_char() == ';' => test = place.test,
            TokenTree::Ident(word) if word == "pub" && is_group(tokens.get(at + 1)) => {
                at += 1; // `pub(in crate::…)` imports nothing.
            }
            TokenTree::Ident(word) if word == "mod" => {
                let mut inner = here.clone();
                inner.module.push(text(tokens.get(at + 1)));
                if let Some(TokenTree::Group(body)) = tokens.get(at + 2) {
                    found.inner.push(inner.module.clone());
                    find(body.stream(), &inner, found);
                    at += 2;
                    test = place.test;
                } else if test {
                    found.tests.push(inner.module);
                }
            }
            TokenTree::Ident(word) if word == "use" => {
                at += 1;
                tree(&tokens, &mut at, &[], &here, found);
                continue; // The semicolon is still to be seen.
            }
            TokenTree::Ident(word) if is_root(word) && is_colons(&tokens, at + 1) => {
                let path = straight(&tokens, &mut at);
                found.push(&here, &path, None);
            }
            _ => {}
        }
        at += 1;
    }
}

impl Found {
    fn push(&mut self, place: &Place, path: &[String], alias: Option<String>) {
        let path = match path.first().map(String::as_str) {
            Some("crate") => path[1..].to_vec(),
            Some("self") => [&place.module, &path[1..]].concat(),
            Some("super") => {
                let up = path.iter().take_while(|name| *name == "super").count();
                let stays = place.module.len().checked_sub(up);
                let stays = stays.expect("nothing is above the root");
                [&place.module[..stays], &path[up..]].concat()
            }
            // A name from outside, or that of a module in here.
            _ => [&place.module, path].concat(),
        };
        self.spelled.push(Spelled {
            module: place.module.clone(),
            path,
            alias,
            test: place.test,
        });
    }
}

/// `a::b::{c, d as e}` of a `use`, up to what follows it.
fn tree(tokens: &[TokenTree], at: &mut usize, stem: &[String], place: &Place, found: &mut Found) {
    let mut path = stem.to_vec();
    loop {
        match tokens.get(*at) {
            Some(TokenTree::Ident(word)) => {
                path.push(word.to_string());
                *at += 1;
            }
            Some(TokenTree::Group(branches)) => {
                let branches: Vec<TokenTree> = branches.stream().into_iter().collect();
                let mut branch = 0;
                while branch < branches.len() {
                    tree(&branches, &mut branch, &path, place, found);
                    branch += 1; // the comma
                }
                *at += 1;
                return;
            }
            _ => *at += 1, // `*`, or `::` before a name from outside
        }
        if !is_colons(tokens, *at) {
            break;
        }
        *at += 2;
    }
    if path.last().is_some_and(|name| name == "self") {
        path.pop();
    }
    let mut alias = path.last().cloned();
    if text(tokens.get(*at)) == "as" {
        alias = Some(text(tokens.get(*at + 1)));
        *at += 2;
    }
    found.push(place, &path, alias);
}

/// `crate::a::b` of an expression or a type, up to its last name.
fn straight(tokens: &[TokenTree], at: &mut usize) -> Path {
    let mut path = vec![text(tokens.get(*at))];
    while is_colons(tokens, *at + 1) {
        let Some(TokenTree::Ident(name)) = tokens.get(*at + 3) else {
            break;
        };
        path.push(name.to_string());
        *at += 3;
    }
    path
}

/// Whether a path may begin here that leaves the module: in the crate, or for the one crate that not all may know.
fn is_root(word: &proc_macro2::Ident) -> bool {
    ["crate", "super", "self", "redis"]
        .iter()
        .any(|root| word == root)
}

fn is_colons(tokens: &[TokenTree], at: usize) -> bool {
    let is_colon = |token: Option<&TokenTree>| matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == ':');
    is_colon(tokens.get(at)) && is_colon(tokens.get(at + 1))
}

fn is_group(token: Option<&TokenTree>) -> bool {
    matches!(token, Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis)
}

fn text(token: Option<&TokenTree>) -> String {
    token.map(ToString::to_string).unwrap_or_default()
}
