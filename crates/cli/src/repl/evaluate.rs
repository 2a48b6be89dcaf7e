//! Compiling what was typed: as an expression, whose values are to be shown, or as statements.

use perilune::native::Cx;

/// Name of the chunks that are typed.
pub(super) const CHUNK: &[u8] = b"=stdin";

/// What is typed with `=` in front asks for the values of an expression (an old form).
pub(super) fn without_equals(source: &mut Vec<u8>) {
    if source.first() == Some(&b'=') {
        source.splice(..1, *b"return ");
    }
}

/// Pushes the function of an expression that returns its values; false if the text is none.
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

/// Pushes the function of some statements, or of a binary chunk.
///
/// # Errors
/// The message of the syntax error.
pub(super) fn push_statements(cx: &Cx, source: &[u8]) -> Result<(), Vec<u8>> {
    cx.push_callee(cx.load(source, CHUNK, b"bt", None)?);
    Ok(())
}

/// Pushes the function of an expression or of statements.
///
/// # Errors
/// The message of the syntax error that it has as statements.
pub(super) fn push_chunk(cx: &Cx, source: &[u8]) -> Result<(), Vec<u8>> {
    if push_expression(cx, source) { Ok(()) } else { push_statements(cx, source) }
}
