//! The interactive mode (manual 7): reads a line, tries it as an expression, then as a statement, which may go on over further lines.

use perilune::native::{Cx, Raised, Val};
use perilune::stdlib::io::read_line;

use crate::call::{Caller, push_global, to_text};
use crate::text;

/// Reads and runs until the input ends. Error messages carry no name meanwhile.
pub(crate) fn run(cx: &mut Cx, caller: &mut Caller) {
    let name = caller.name.take();
    let kept = cx.top();
    while let Some(source) = read_chunk(cx) {
        match source {
            Ok(()) => match caller.call(cx, 0) {
                Ok(n) => print(cx, caller, n),
                Err(()) => caller.report(cx),
            },
            Err(message) => caller.message(&message),
        }
        cx.set_top(kept);
    }
    text::write(b"\n");
    caller.name = name;
}

/// Reads a chunk and pushes its function; `Some(Err(message))` when it does not compile, `None` at the end of the input.
fn read_chunk(cx: &mut Cx) -> Option<Result<(), Vec<u8>>> {
    let mut source = read(cx, true)?;
    if source.first() == Some(&b'=') {
        source.splice(..1, *b"return ");
    }
    let expression = [b"return ", &source[..], b";"].concat();
    if let Ok(f) = cx.load(&expression, b"=stdin", b"t", None) {
        cx.push_callee(f);
        return Some(Ok(()));
    }
    loop {
        let message = match cx.load(&source, b"=stdin", b"t", None) {
            Ok(f) => {
                cx.push_callee(f);
                return Some(Ok(()));
            }
            Err(message) => message,
        };
        if !message.ends_with(b"<eof>") {
            return Some(Err(message));
        }
        match read(cx, false) {
            Some(line) => {
                source.push(b'\n');
                source.extend_from_slice(&line);
            }
            None => return Some(Err(message)),
        }
    }
}

/// Shows a prompt and reads a line.
fn read(cx: &mut Cx, first: bool) -> Option<Vec<u8>> {
    text::write(&prompt(cx, first));
    let mut line = read_line()?;
    if line.last() == Some(&b'\n') {
        line.pop();
    }
    Some(line)
}

/// The global `_PROMPT` or `_PROMPT2` as `tostring` shows it, or PUC's prompts.
fn prompt(cx: &mut Cx, first: bool) -> Vec<u8> {
    let (name, default) = if first { ("_PROMPT", "> ") } else { ("_PROMPT2", ">> ") };
    let kept = cx.top();
    let set = push_global(cx, name.as_bytes()).is_ok() && !cx.get(kept).is_nil();
    let mut prompt = default.as_bytes().to_vec();
    if set && cx.push_tostring(kept).is_ok() {
        prompt = cx.get(cx.top() - 1).as_str().map_or(prompt, |s| s.bytes().to_vec());
    }
    cx.set_top(kept);
    prompt
}

/// Hands the last `n` values to `print`.
fn print(cx: &mut Cx, caller: &Caller, n: usize) {
    if n == 0 {
        return;
    }
    if call_print(cx, n).is_err() {
        let message = to_text(cx, cx.get(cx.top() - 1)).unwrap_or_else(|| b"(null)".to_vec());
        caller.message(&[b"error calling 'print' (", &message[..], b")"].concat());
    }
}

fn call_print(cx: &mut Cx, n: usize) -> Result<(), ()> {
    let at = cx.top() - n;
    let raised = |cx: &mut Cx, _: Raised| cx.push(cx.error_value());
    cx.reserve(3).map_err(|r| raised(cx, r))?;
    push_global(cx, b"print").map_err(|r| raised(cx, r))?;
    cx.insert(at, cx.get(cx.top() - 1));
    cx.pop(1);
    // the header slot of the call
    cx.insert(at + 1, Val::NIL);
    cx.call_protected(n).map(|_| ())
}
