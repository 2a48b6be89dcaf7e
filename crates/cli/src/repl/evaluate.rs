//! Compiling the input: as an expression, whose values are shown, or as statements.

use perilune::native::Cx;

/// The name of chunks that are typed.
pub(super) const CHUNK: &[u8] = b"=stdin";

/// Removes a leading `=`, an old way to ask for the values of an expression, and makes the rest a
/// `return` statement.
pub(super) fn without_equals(source: &mut Vec<u8>) {
    if source.first() == Some(&b'=') {
        source.splice(..1, *b"return ");
    }
}

/// Compiles an expression and pushes the function that returns its values. Returns false if the
/// text is not an expression.
pub(super) fn push_expression(cx: &Cx, source: &[u8]) -> bool {
    let source = [b"return ", source, b";"].concat();
    match cx.load(&source, CHUNK, b"t", None) {
        Ok(f) => {
            cx.push_callee(f);
            true
        }
        Err(_) => false,
    }
}

/// Compiles statements, or loads a binary chunk, and pushes the function.
///
/// # Errors
/// Returns the message of the syntax error.
pub(super) fn push_statements(cx: &Cx, source: &[u8]) -> Result<(), Vec<u8>> {
    cx.push_callee(cx.load(source, CHUNK, b"bt", None)?);
    Ok(())
}

/// Compiles an expression or statements and pushes the function.
///
/// # Errors
/// Returns the message of the syntax error of the text as statements.
pub(super) fn push_chunk(cx: &Cx, source: &[u8]) -> Result<(), Vec<u8>> {
    if push_expression(cx, source) { Ok(()) } else { push_statements(cx, source) }
}
