//! PUC's interactive mode: reads a line and tries it as an expression, then as a statement, which
//! may need further lines.
//!
//! Lines that do not come from a terminal are echoed after their prompts, as PUC's command does
//! when it is built with readline. The official tests require this.

use std::io::IsTerminal;

use perilune::native::{Cx, Raised, Val};
use perilune::stdlib::io::read_line;

use super::evaluate::{push_expression, push_statements, without_equals};
use super::prompt;
use crate::call::{Caller, push_global, to_text};
use crate::text;

/// Reads and runs chunks until the input ends.
pub(super) fn run(cx: &mut Cx, caller: &Caller) {
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
}

/// Reads a chunk and pushes its function. Returns `Some(Err(message))` when it does not compile,
/// and `None` at the end of the input.
fn read_chunk(cx: &mut Cx) -> Option<Result<(), Vec<u8>>> {
    let mut source = read(cx, true)?;
    without_equals(&mut source);
    if push_expression(cx, &source) {
        return Some(Ok(()));
    }
    loop {
        let message = match push_statements(cx, &source) {
            Ok(()) => return Some(Ok(())),
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
    if !std::io::stdin().is_terminal() {
        text::write(&[&line[..], b"\n"].concat());
    }
    Some(line)
}

/// Passes the last `n` values to `print`.
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
