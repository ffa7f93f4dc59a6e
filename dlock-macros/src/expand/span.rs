//! Where generated code claims to be written.

use proc_macro2::Span;

/// Hygienic, so that names of the user's do not meet ours, and shown at `span`.
pub(super) fn mixed_at(span: Span) -> Span {
    Span::mixed_site().located_at(span)
}
