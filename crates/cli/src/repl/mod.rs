//! The interactive mode: a console with line editing on a terminal, and PUC's plain mode (manual 7)
//! everywhere else.

mod assist;
mod commands;
mod complete;
mod console;
mod dot_command;
mod evaluate;
mod highlight;
mod hint;
mod history;
mod plain;
mod pretty;
mod signatures;
mod validate;

use std::io::IsTerminal;

use perilune::Lua;
use perilune::native::Cx;

use crate::call::{Caller, message_handler, push_global};
use crate::native::with_cx;

/// Reads and runs input until it ends.
///
/// This function is not inlined into the code that runs scripts, which should start without
/// touching any of this.
#[cold]
#[inline(never)]
pub(crate) fn run(lua: &Lua, mut caller: Caller) {
    caller.begin_console();
    if is_console() && console::run(lua, &caller).is_ok() {
        return;
    }
    with_handler(lua, |cx| plain::run(cx, &caller));
}

/// Returns whether input and output are a terminal whose cursor can be moved.
pub(crate) fn is_console() -> bool {
    let capable = std::env::var_os("TERM").is_some_and(|t| !t.is_empty() && t != "dumb");
    capable && std::io::stdin().is_terminal() && std::io::stdout().is_terminal()
}

/// Calls `f` with the state, with the message handler as value 0 of the stack, as [`Caller::call`]
/// requires.
fn with_handler<R>(lua: &Lua, f: impl FnOnce(&mut Cx) -> R) -> R {
    with_cx(lua, |cx| {
        cx.push(cx.func(message_handler, &[]).val());
        f(cx)
    })
}

/// Returns the global `_PROMPT` or `_PROMPT2` as `tostring` shows it; `None` when it is not set.
fn own_prompt(cx: &mut Cx, first: bool) -> Option<Vec<u8>> {
    let name = if first { "_PROMPT" } else { "_PROMPT2" };
    let kept = cx.top();
    let set = push_global(cx, name.as_bytes()).is_ok() && !cx.get(kept).is_nil();
    let mut prompt = None;
    if set && cx.push_tostring(kept).is_ok() {
        prompt = cx.get(cx.top() - 1).as_str().map(|s| s.bytes().to_vec());
    }
    cx.set_top(kept);
    prompt
}

/// Returns the prompt for the first line of an entry or for a further line.
fn prompt(cx: &mut Cx, first: bool) -> Vec<u8> {
    own_prompt(cx, first).unwrap_or_else(|| if first { b"> " } else { &b">> "[..] }.to_vec())
}
