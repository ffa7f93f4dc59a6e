//! A picture as SVG.

use std::fmt::{Arguments, Write};

/// A picture in the making; positions and sizes are in pixels.
#[derive(Debug)]
pub(crate) struct Svg(String);

impl Svg {
    /// An empty picture with these CSS rules.
    pub(crate) fn new((width, height): (f64, f64), style: &str, background: &str) -> Self {
        Self(format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
             width=\"{width}\" height=\"{height}\" role=\"img\">\n<style>{style}</style>\n\
             <rect width=\"100%\" height=\"100%\" fill=\"{background}\"/>\n"
        ))
    }

    /// An element as it is.
    pub(crate) fn add(&mut self, element: Arguments<'_>) {
        let _ = writeln!(self.0, "{element}");
    }

    /// A line of text in exactly this width, whatever the font; spaces count.
    pub(crate) fn text_in(&mut self, class: &str, (x, y): (f64, f64), width: f64, text: &str) {
        let text = escape(text);
        self.add(format_args!(
            "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" textLength=\"{width:.1}\" \
             lengthAdjust=\"spacingAndGlyphs\" xml:space=\"preserve\">{text}</text>"
        ));
    }

    /// The file's text.
    pub(crate) fn finish(mut self) -> String {
        self.0.push_str("</svg>\n");
        self.0
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}
