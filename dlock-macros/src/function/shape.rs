//! What kind of function it is, hence where its lock goes.

use syn::punctuated::Punctuated;
use syn::{
    Block, Expr, ExprAsync, GenericArgument, PathArguments, PathSegment, ReturnType, Stmt, Token,
    Type, TypeParamBound,
};

use super::Function;

/// Where the body runs that the lock protects.
pub(crate) enum Shape {
    /// `async fn`.
    Async,
    /// `fn .. -> Pin<Box<dyn Future>> { Box::pin(async move { .. }) }`, which is what `#[async_trait]` makes of
    /// an `async fn`.
    Boxed(Box<Boxed>),
    /// `fn` that does its work before it returns.
    Sync,
}

/// A function whose last expression is a boxed `async move` block.
pub(crate) struct Boxed {
    /// What the future returns.
    pub(crate) output: Type,
    pub(crate) block: Block,
}

impl Boxed {
    /// The `async move` block that ends the function.
    pub(crate) fn tail(&mut self) -> Option<&mut ExprAsync> {
        boxed_tail(&mut self.block)
    }
}

impl Shape {
    /// What the signature and the end of the body look like; `Sync` if like nothing else.
    pub(crate) fn of(function: &Function) -> Self {
        if function.signature.asyncness.is_some() {
            return Self::Async;
        }
        Boxed::of(function).map_or(Self::Sync, |boxed| Self::Boxed(Box::new(boxed)))
    }

    /// Whether the body of a function that is not async ends by making a future, whatever its return type is called.
    pub(crate) fn ends_in_a_future(function: &Function) -> bool {
        match statements(function).unwrap_or_default().last() {
            Some(Stmt::Expr(last @ Expr::Return(_), _) | Stmt::Expr(last, None)) => is_future(last),
            _ => false,
        }
    }
}

fn statements(function: &Function) -> Option<Vec<Stmt>> {
    syn::parse::Parser::parse2(Block::parse_within, function.body.clone()).ok()
}

/// Whether this is an `async` block, boxed in one of the usual ways.
fn is_future(value: &Expr) -> bool {
    match value {
        Expr::Async(_) => true,
        Expr::Return(early) => early.expr.as_deref().is_some_and(is_future),
        Expr::Paren(inner) => is_future(&inner.expr),
        Expr::Cast(cast) => is_future(&cast.expr),
        Expr::MethodCall(call) => {
            is_future(&call.receiver) && call.method.to_string().starts_with("boxed")
        }
        Expr::Call(call) => is_box_pin(&call.func) && call.args.first().is_some_and(is_future),
        _ => false,
    }
}

impl Boxed {
    fn of(function: &Function) -> Option<Self> {
        let output = boxed_future_output(&function.signature.output)?.clone();
        let mut block = Block {
            brace_token: syn::token::Brace::default(),
            stmts: statements(function)?,
        };
        boxed_tail(&mut block)?;
        Some(Self { output, block })
    }
}

fn boxed_tail(block: &mut Block) -> Option<&mut ExprAsync> {
    let Some(Stmt::Expr(Expr::Call(call), None)) = block.stmts.last_mut() else {
        return None;
    };
    let pins = is_box_pin(&call.func);
    match call.args.first_mut() {
        Some(Expr::Async(tail)) if pins && tail.capture.is_some() => Some(tail),
        _ => None,
    }
}

/// `Box::pin`, under any path.
fn is_box_pin(function: &Expr) -> bool {
    let Expr::Path(function) = function else {
        return false;
    };
    let mut names = function.path.segments.iter().rev();
    let mut next_is = |name| names.next().is_some_and(|segment| segment.ident == name);
    next_is("pin") && next_is("Box")
}

/// `T` of `Pin<Box<dyn Future<Output = T> + ..>>`.
fn boxed_future_output(output: &ReturnType) -> Option<&Type> {
    let ReturnType::Type(_, pinned) = output else {
        return None;
    };
    let aliases = ["BoxFuture", "LocalBoxFuture"];
    if let Some(output) = aliases.iter().find_map(|alias| generic(alias, pinned)) {
        return Some(output);
    }
    let Type::TraitObject(object) = generic("Box", generic("Pin", pinned)?)? else {
        return None;
    };
    future_output(&object.bounds)
}

/// `T` of `Future<Output = T>` among `bounds`.
fn future_output(bounds: &Punctuated<TypeParamBound, Token![+]>) -> Option<&Type> {
    bounds.iter().find_map(|bound| match bound {
        TypeParamBound::Trait(bound) => {
            let segment = bound.path.segments.last()?;
            arguments(segment, "Future")?.find_map(|argument| match argument {
                GenericArgument::AssocType(output) if output.ident == "Output" => Some(&output.ty),
                _ => None,
            })
        }
        _ => None,
    })
}

/// `T` of `name<T>`.
fn generic<'a>(name: &str, ty: &'a Type) -> Option<&'a Type> {
    let Type::Path(path) = ty else {
        return None;
    };
    arguments(path.path.segments.last()?, name)?.find_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    })
}

fn arguments<'a>(
    segment: &'a PathSegment,
    name: &str,
) -> Option<impl Iterator<Item = &'a GenericArgument> + use<'a>> {
    match &segment.arguments {
        PathArguments::AngleBracketed(arguments) if segment.ident == name => {
            Some(arguments.args.iter())
        }
        _ => None,
    }
}
