//! Formats values for readers: strings are quoted, tables are shown up to a certain depth and
//! width, and cycles are marked.
//!
//! [`tree`] reads a value without running code and [`layout()`] makes lines of it. Between the two,
//! the `__tostring` of objects is called.

mod layout;
mod quote;
mod tree;

pub(super) use layout::layout;
pub(super) use tree::{Limits, read};

use perilune::native::{Cx, NativeResult};

use crate::call::{Caller, to_text};

/// Returns the values `first..` of the stack as text that ends with a newline and fits into `width`
/// columns where possible.
pub(super) fn values(
    cx: &mut Cx,
    caller: &Caller,
    first: usize,
    width: usize,
    colours: bool,
) -> String {
    let end = cx.top();
    let mut trees: Vec<tree::Node> =
        (first..end).map(|i| read(cx, cx.get(i), &Limits::default())).collect();
    for node in &mut trees {
        node.each_object(&mut |place, text| *text = describe(cx, caller, place));
    }
    cx.set_top(end);
    let mut shown = Vec::new();
    for node in &trees {
        shown.push(layout(node, width, colours));
    }
    let long = shown.iter().any(|s| s.contains('\n'));
    shown.join(if long { "\n" } else { ", " }) + "\n"
}

/// Returns the text that `tostring` gives for value `i`.
fn describe(cx: &mut Cx, caller: &Caller, i: usize) -> String {
    let kept = cx.top();
    if cx.reserve(4).is_err() {
        return "<stack overflow>".into();
    }
    cx.push_callee(cx.func(tostring, &[]).val());
    cx.push(cx.get(i));
    let failed = caller.call(cx, 1).is_err();
    let text = to_text(cx, cx.get(kept)).unwrap_or_default();
    cx.set_top(kept);
    let text = String::from_utf8_lossy(&text).into_owned();
    match text.split('\n').next() {
        Some(line) if failed => format!("<error in __tostring: {line}>"),
        _ => text,
    }
}

fn tostring(cx: &mut Cx) -> NativeResult {
    cx.push_tostring(0)?;
    cx.ret(1)
}
