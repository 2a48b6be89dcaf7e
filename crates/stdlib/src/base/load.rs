//! `load`, `loadfile`, `dofile`.

use perilune_runtime::load::{LoadError, Reason};
use perilune_runtime::native::{Cx, NativeResult, StepResult, Val};

use crate::io::{self, error_text};
use crate::support::{c_str, concat};

/// Returns the results of a function that loads: the function, or nil and the message.
fn loaded(cx: &Cx, r: Result<Val<'_>, Vec<u8>>) -> NativeResult {
    match r {
        Ok(f) => cx.ret1(f),
        Err(message) => {
            cx.push(Val::NIL);
            cx.push(cx.str(&message).val());
            cx.ret(2)
        }
    }
}

/// Returns the results of `load` for an error. Message handlers are called for errors that count as
/// run-time errors.
fn refused(cx: &mut Cx, error: LoadError) -> NativeResult {
    if error.reason == Reason::Rejected {
        return loaded(cx, Err(error.message));
    }
    let raised = cx.error_plain(&error.message);
    if error.reason == Reason::Interrupted {
        // The chunk did not fail, so the error is not reported as a result.
        return Err(raised);
    }
    cx.push(Val::NIL);
    cx.catch(raised);
    cx.ret(2)
}

/// Returns the environment given as argument `i`. An explicit nil counts as given.
fn environment(cx: &Cx, i: usize) -> Option<Val<'_>> {
    (!cx.is_none(i)).then(|| cx.get(i))
}

/// Implements `load(chunk [, chunkname [, mode [, env]]])`.
pub(super) fn load(cx: &mut Cx) -> NativeResult {
    let source = cx.get(0);
    if source.is_number() {
        cx.check_str(0)?;
    }
    let mode = cx.opt_str(2)?.map_or(&b"bt"[..], |m| c_str(m.bytes()));
    if let Some(s) = cx.get(0).as_str() {
        let name = cx.opt_str(1)?.map_or(s.bytes(), |n| n.bytes());
        cx.count_source(s.bytes().len());
        return match cx.try_load(s.bytes(), c_str(name), mode, environment(cx, 3)) {
            Ok(f) => cx.ret1(f),
            Err(error) => refused(cx, error),
        };
    }
    cx.opt_str(1)?;
    cx.check_func(0)?;
    let mut text = Vec::new();
    let mode = cx.opt_str(2)?.map_or(&b"bt"[..], |m| c_str(m.bytes())).to_vec();
    match read_pieces(cx, &mode, &mut text) {
        Err(()) if !cx.is_hopeless(&text, &mode) => {
            cx.push(Val::NIL);
            cx.push(cx.get(cx.top() - 2));
            cx.ret(2)
        }
        _ => {
            let name = cx.opt_str(1)?.map_or(&b"=(load)"[..], |n| n.bytes());
            cx.count_source(text.len());
            match cx.try_load(&text, c_str(name), &mode, environment(cx, 3)) {
                Ok(f) => cx.ret1(f),
                Err(error) => refused(cx, error),
            }
        }
    }
}

/// Collects the pieces that the reader function at value 0 returns, to the end or until it is
/// certain that they cannot be loaded. On failure the error value is on top.
fn read_pieces(cx: &mut Cx, mode: &[u8], text: &mut Vec<u8>) -> Result<(), ()> {
    let mut checked = 0;
    loop {
        // A reader may be too short to contain a safepoint.
        if let Err(interrupted) = cx.interrupted() {
            cx.catch(interrupted);
            return Err(());
        }
        cx.push_callee(cx.get(0));
        let n = cx.call_handled(0)?;
        let first = cx.top() - n;
        if n == 0 || cx.get(first).is_nil() {
            cx.pop(n);
            return Ok(());
        }
        let piece = cx.get(first);
        if !piece.is_number() && piece.as_str().is_none() {
            let error = cx.error("reader function must return a string");
            cx.catch(error);
            return Err(());
        }
        let before = text.len();
        let more = piece.as_str().map_or(0, |s| s.bytes().len());
        if text.try_reserve(more).is_err() {
            cx.push(cx.str(b"not enough memory").val());
            return Err(());
        }
        match piece.as_str() {
            Some(s) => text.extend_from_slice(s.bytes()),
            None => text.extend_from_slice(cx.number_to_str(piece).bytes()),
        }
        cx.pop(n);
        if text.len() == before {
            return Ok(());
        }
        // A reader may never end, so the text is checked in between.
        if cx.has_become_hopeless(text, mode, &mut checked) {
            return Ok(());
        }
        if cx.check_room(text.len()).is_err() {
            cx.push(cx.str(b"not enough memory").val());
            return Err(());
        }
    }
}

/// Loads a file (`None`: the standard input) as `loadfile` does.
///
/// # Errors
/// Returns the message if the file cannot be read or does not compile.
pub fn load_file<'a>(
    cx: &'a Cx,
    name: Option<&[u8]>,
    mode: &[u8],
    env: Option<Val<'_>>,
) -> Result<Val<'a>, Vec<u8>> {
    let file = read_file(cx, name)?;
    cx.load(file.chunk(), &file.name, mode, env)
}

/// A file that is to be loaded.
pub struct SourceFile {
    bytes: Vec<u8>,
    /// The name of the chunk.
    pub name: Vec<u8>,
}

impl SourceFile {
    /// Returns the chunk in the file.
    pub fn chunk(&self) -> &[u8] {
        skip_comment(&self.bytes)
    }
}

/// Reads a file (`None`: the standard input) to load it.
///
/// # Errors
/// Returns the message if the file cannot be read.
pub fn read_file(cx: &Cx, name: Option<&[u8]>) -> Result<SourceFile, Vec<u8>> {
    let (bytes, name) = match name {
        Some(path) => {
            let path = c_str(path);
            // for the system, for the name of the chunk, and for a message
            if cx.check_room(2 * path.len()).is_err() {
                return Err(b"not enough memory".to_vec());
            }
            let fail = |what: &str, e: &std::io::Error| {
                if io::is_refusal(e) {
                    return b"not enough memory".to_vec();
                }
                concat(&[b"cannot ", what.as_bytes(), b" ", path, b": ", error_text(e).as_bytes()])
            };
            let bytes = io::read_file(cx, path).map_err(|(what, e)| fail(what, &e))?;
            (bytes, concat(&[b"@", path]))
        }
        None => {
            let bytes = io::stdout::read_stdin(&io::Bounds::of(cx))
                .map_err(|e| concat(&[b"cannot read stdin: ", error_text(&e).as_bytes()]))?;
            (bytes, b"=stdin".to_vec())
        }
    };
    cx.count_source(bytes.len());
    Ok(SourceFile { bytes, name })
}

/// Skips a byte-order mark and a first line that starts with `#`. Keeps its line feed, so that the
/// numbers of the following lines are correct.
fn skip_comment(bytes: &[u8]) -> &[u8] {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    if bytes.first() != Some(&b'#') {
        return bytes;
    }
    let Some(end) = memchr::memchr(b'\n', bytes) else { return b"" };
    // A line feed before a binary chunk would hide the signature.
    if bytes.get(end + 1) == Some(&b'\x1B') { &bytes[end + 1..] } else { &bytes[end..] }
}

/// Implements `loadfile([filename [, mode [, env]]])`.
pub(super) fn loadfile(cx: &mut Cx) -> NativeResult {
    let name = cx.opt_str(0)?.map(|n| n.bytes());
    let mode = cx.opt_str(1)?.map_or(&b"bt"[..], |m| c_str(m.bytes()));
    loaded(cx, load_file(cx, name, mode, environment(cx, 2)))
}

/// Implements `dofile([filename])`.
pub(super) fn dofile(cx: &mut Cx) -> NativeResult {
    if cx.step() != 0 {
        return match cx.step_result() {
            StepResult::Returned(n) => cx.ret(n),
            StepResult::Failed => cx.ret(0),
        };
    }
    let name = cx.opt_str(0)?.map(|n| n.bytes());
    match load_file(cx, name, b"bt", None) {
        Ok(f) => {
            cx.push_callee(f);
            cx.call_then(0, 1)
        }
        Err(message) => Err(cx.error_plain(message)),
    }
}

#[cfg(test)]
mod tests {
    use super::skip_comment;

    #[test]
    fn comments_in_front() {
        assert_eq!(skip_comment(b"\xEF\xBB\xBF#!x\nreturn"), b"\nreturn");
        assert_eq!(skip_comment(b"#x"), b"");
        assert_eq!(skip_comment(b"#x\n\x1BLua"), b"\x1BLua");
        assert_eq!(skip_comment(b"return #x"), b"return #x");
    }
}
