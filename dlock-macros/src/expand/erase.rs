//! `impl Trait` in a return type, which cannot be written in a body.

use syn::visit_mut::{self, VisitMut};
use syn::{Type, parse_quote};

/// `ty` with `_` in the place of each `impl Trait`.
pub(super) fn erase_impl_trait(ty: &Type) -> Type {
    let mut ty = ty.clone();
    Eraser.visit_type_mut(&mut ty);
    ty
}

struct Eraser;

impl VisitMut for Eraser {
    fn visit_type_mut(&mut self, ty: &mut Type) {
        if let Type::ImplTrait(_) = ty {
            *ty = parse_quote!(_);
        } else {
            visit_mut::visit_type_mut(self, ty);
        }
    }
}
