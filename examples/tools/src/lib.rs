//! What the programs of this crate share.

mod svg;

pub use svg::Svg;
