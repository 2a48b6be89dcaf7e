//! The commands of the console.

use std::time::{Duration, Instant};

use perilune::listing;
use perilune::native::{Cx, Func};
use perilune::stdlib::base::load_file;

use super::complete::{place, value};
use super::console::Console;
use super::dot_command::{LOAD, NAMES};
use super::evaluate::{push_chunk, without_equals};
use super::{complete, pretty};
use crate::text;

const HELP: &str = "\
.help                 this text
.time CODE            run an expression or statement and say how long it took
.load FILE            run a file
.dump FUNCTION|CODE   list the bytecode of a function, or of code without running it

An expression shows its values; a statement may take several lines.
Tab completes names, fields and methods; the right arrow takes a hint.
^R searches the history, ^C discards the line or stops what runs, ^D leaves.
The variables _PROMPT and _PROMPT2 set the prompts; with _PROMPT2, entries are read line by line.
";

/// Runs a command.
pub(super) fn run(cx: &mut Cx, console: &Console<'_>, command: &str, argument: &str) {
    let argument = argument.trim_end();
    match command {
        ".help" => text::write(HELP.as_bytes()),
        _ if !NAMES.contains(&command) => {
            text::write_error(
                format!("{command}: no such command (.help lists them)\n").as_bytes(),
            );
        }
        _ if argument.is_empty() => {
            text::write_error(
                format!("{command}: an argument is missing (see .help)\n").as_bytes(),
            );
        }
        ".time" => time(cx, console, argument),
        LOAD => load(cx, console, argument),
        _ => dump(cx, console, argument),
    }
}

fn time(cx: &mut Cx, console: &Console<'_>, code: &str) {
    let mut source = code.as_bytes().to_vec();
    without_equals(&mut source);
    if let Err(message) = push_chunk(cx, &source) {
        console.syntax_error(&message, &source);
        return;
    }
    let start = Instant::now();
    let result = console.caller.call(cx, 0);
    let time = start.elapsed();
    console.finish(cx, result);
    text::write(format!("{}\n", duration(time)).as_bytes());
}

/// Returns a time as text, with three digits or more.
fn duration(time: Duration) -> String {
    match time.as_nanos() {
        0..10_000 => format!("{} ns", time.as_nanos()),
        10_000..10_000_000 => format!("{:.1} µs", time.as_secs_f64() * 1e6),
        10_000_000..10_000_000_000 => format!("{:.1} ms", time.as_secs_f64() * 1e3),
        _ => format!("{:.2} s", time.as_secs_f64()),
    }
}

fn load(cx: &mut Cx, console: &Console<'_>, file: &str) {
    match load_file(cx, Some(file.as_bytes()), b"bt", None) {
        Ok(f) => cx.push_callee(f),
        Err(message) => {
            console.caller.message(&message);
            return;
        }
    }
    let result = console.caller.call(cx, 0);
    console.finish(cx, result);
}

fn dump(cx: &mut Cx, console: &Console<'_>, code: &str) {
    let whole = place(code).filter(|p| !p.name.is_empty() && is_path(code));
    let named = whole.map(|mut p| {
        p.path.push(complete::Key::Name(p.name));
        p.path
    });
    let f = named.as_ref().and_then(|path| value(cx, path).as_func());
    if let Some(f) = f {
        show(f, code);
        return;
    }
    let kept = cx.top();
    let mut source = code.as_bytes().to_vec();
    without_equals(&mut source);
    match push_chunk(cx, &source) {
        Ok(()) => {
            if let Some(f) = cx.get(kept).as_func() {
                show(f, code);
            }
        }
        Err(message) => console.syntax_error(&message, &source),
    }
}

/// Returns whether the code consists only of the name of a variable, field or method.
fn is_path(code: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | ':' | ' ');
    code.chars().all(plain)
}

fn show(f: Func<'_>, code: &str) {
    match listing(f) {
        Some(listing) => text::write(listing.as_bytes()),
        None => {
            text::write(format!("{code}: a function of the host, without bytecode\n").as_bytes())
        }
    }
}

/// Shows the last `n` values of the stack.
pub(super) fn show_values(cx: &mut Cx, console: &Console<'_>, n: usize) {
    let first = cx.top() - n;
    let shown = pretty::values(cx, console.caller, first, console.width, console.colours);
    text::write(shown.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::duration;
    use std::time::Duration;

    #[test]
    fn durations() {
        assert_eq!(duration(Duration::from_nanos(900)), "900 ns");
        assert_eq!(duration(Duration::from_micros(900)), "900.0 µs");
        assert_eq!(duration(Duration::from_millis(1234)), "1234.0 ms");
        assert_eq!(duration(Duration::from_secs(75)), "75.00 s");
    }
}
