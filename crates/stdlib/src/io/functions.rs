//! The functions of `io`, and opening the library.

use std::fs::OpenOptions;
use std::process::{Command, Stdio};

use perilune_runtime::native::{Cx, NativeFn, NativeResult, Raised, Val};

use super::file::{
    check_file, close_handle, file_of, flush_stream, new_file, new_handle, register_metatable,
    stream_of, with_stream, write,
};
use super::read::{line_iterator, read};
use super::stdout::{STDERR, STDIN, STDOUT, Shared, flush_all};
use super::stream::Stream;
use super::{error_text, file_result, path};
use crate::os::temporary_file;
use crate::support::{c_str, concat, names, publish, system_str};

/// The functions of the library. Those from [`PLAIN`] on use the default files; their bound value
/// is a list of these, with the input first.
const FUNCTIONS: &[(&str, NativeFn)] = &[
    ("open", open_file),
    ("popen", popen),
    ("tmpfile", tmpfile),
    ("type", type_),
    ("close", close),
    ("flush", flush),
    ("input", input),
    ("lines", lines),
    ("output", output),
    ("read", read_default),
    ("write", write_default),
];

const PLAIN: usize = 4;

/// The names of the library's fields.
static NAMES: [&str; FUNCTIONS.len() + 3] = names(FUNCTIONS, &["stdin", "stdout", "stderr"]);

const INPUT: i64 = 1;
const OUTPUT: i64 = 2;

/// Opens `io`.
///
/// # Errors
/// Returns "not enough memory".
pub fn open(cx: &mut Cx) -> Result<(), Raised> {
    let cx = &*cx;
    register_metatable(cx);
    let defaults = cx.table(2, 0);
    let lib = cx.table_with(&NAMES, |i| match FUNCTIONS.get(i) {
        Some((_, f)) if i < PLAIN => cx.func(*f, &[]).val(),
        Some((_, f)) => cx.func(*f, &[defaults.val()]).hide_bound().val(),
        None => Val::NIL,
    });
    let standard = |name: &str, s: &Shared| {
        let u: Val<'_> = new_handle(cx, s.clone(), true).into();
        lib.set_name(cx, name, u);
        u
    };
    defaults.set_int(cx, INPUT, standard("stdin", &STDIN));
    defaults.set_int(cx, OUTPUT, standard("stdout", &STDOUT));
    standard("stderr", &STDERR);
    publish(cx, "io", lib);
    Ok(())
}

fn default_file(cx: &Cx, which: i64) -> Val<'_> {
    cx.bound(0).as_table().map_or(Val::NIL, |t| t.get_int(which))
}

fn default_stream(cx: &Cx, which: i64) -> Result<Shared, Raised> {
    stream_of(cx, default_file(cx, which)).flatten().ok_or_else(|| closed_default(cx, which))
}

#[cold]
fn closed_default(cx: &Cx, which: i64) -> Raised {
    let name = if which == INPUT { "input" } else { "output" };
    cx.error(format!("default {name} file is closed"))
}

/// Returns whether a mode matches `[rwa]%+?b*`.
fn valid_mode(mode: &[u8]) -> bool {
    let [b'r' | b'w' | b'a', rest @ ..] = mode else { return false };
    rest.strip_prefix(b"+").unwrap_or(rest).iter().all(|b| *b == b'b')
}

/// Opens a file as C's `fopen` does. The mode is valid.
fn open_path(name: &[u8], mode: &[u8]) -> std::io::Result<Stream> {
    let update = mode.get(1) == Some(&b'+');
    let mut o = OpenOptions::new();
    match mode[0] {
        b'r' => o.read(true).write(update),
        b'w' => o.write(true).create(true).truncate(true).read(update),
        _ => o.append(true).create(true).read(update),
    };
    let mut file = o.open(path(name))?;
    if mode[0] == b'a' && !update {
        // In glibc, the position is at the end before the first write. Files that cannot seek
        // return an error, which is ignored.
        let _ = std::io::Seek::seek(&mut file, std::io::SeekFrom::End(0));
    }
    Ok(Stream::new(file, mode[0] == b'r' || update, mode[0] != b'r' || update))
}

/// Implements `io.open(filename [, mode])`.
fn open_file(cx: &mut Cx) -> NativeResult {
    let name = system_str(cx, 0)?;
    let mode = cx.opt_str(1)?.map_or(&b"r"[..], |m| c_str(m.bytes()));
    if !valid_mode(mode) {
        return Err(cx.arg_error(1, "invalid mode"));
    }
    match open_path(name, mode) {
        Ok(s) => cx.ret1(new_file(cx, s).into()),
        Err(e) => file_result(cx, Err(e), Some(name)),
    }
}

/// Makes a command that runs in a shell, which has the name `sh` in its messages, as with the C
/// library's `system` and `popen`.
pub(crate) fn shell(command: &[u8]) -> Command {
    let mut c = Command::new("/bin/sh");
    #[cfg(unix)]
    std::os::unix::process::CommandExt::arg0(&mut c, "sh");
    c.arg("-c").arg(path(command));
    c
}

/// Implements `io.popen(prog [, mode])`.
fn popen(cx: &mut Cx) -> NativeResult {
    let command = system_str(cx, 0)?;
    let mode = cx.opt_str(1)?.map_or(&b"r"[..], |m| c_str(m.bytes()));
    let reads = match mode {
        b"r" => true,
        b"w" => false,
        _ => return Err(cx.arg_error(1, "invalid mode")),
    };
    flush_all();
    let mut shell = shell(command);
    if reads {
        shell.stdout(Stdio::piped());
    } else {
        shell.stdin(Stdio::piped());
    }
    let opened = shell.spawn().and_then(|mut child| {
        let end: Option<std::os::fd::OwnedFd> = if reads {
            child.stdout.take().map(Into::into)
        } else {
            child.stdin.take().map(Into::into)
        };
        let end = end.ok_or_else(|| std::io::Error::from_raw_os_error(libc::EBADF))?;
        Ok(Stream::pipe(end.into(), child, reads))
    });
    match opened {
        Ok(s) => cx.ret1(new_file(cx, s).into()),
        Err(e) => file_result(cx, Err(e), Some(command)),
    }
}

/// Implements `io.tmpfile()`.
fn tmpfile(cx: &mut Cx) -> NativeResult {
    match temporary_file() {
        Ok(f) => cx.ret1(new_file(cx, Stream::new(f, true, true)).into()),
        Err(e) => file_result(cx, Err(e), None),
    }
}

/// Implements `io.type(v)`.
fn type_(cx: &mut Cx) -> NativeResult {
    let v = cx.check_any(0)?;
    match file_of(cx, v) {
        None => cx.ret1(Val::NIL),
        Some(None) => cx.ret1(cx.str(b"closed file").val()),
        Some(Some(_)) => cx.ret1(cx.str(b"file").val()),
    }
}

/// Implements `io.close([file])`.
fn close(cx: &mut Cx) -> NativeResult {
    if cx.is_none(0) {
        cx.push(default_file(cx, OUTPUT));
    }
    check_file(cx, 0)?;
    close_handle(cx, 0)
}

/// Implements `io.flush()`.
fn flush(cx: &mut Cx) -> NativeResult {
    let s = default_stream(cx, OUTPUT)?;
    flush_stream(cx, &s)
}

/// Opens a file, and raises an error if that fails.
fn open_or_raise<'a>(cx: &'a Cx, name: &[u8], mode: &[u8]) -> Result<Val<'a>, Raised> {
    // for the path, and for a message with the name
    cx.check_room(2 * name.len())?;
    match open_path(c_str(name), mode) {
        Ok(s) => Ok(new_file(cx, s).into()),
        Err(e) => Err(cx.error(concat(&[
            b"cannot open file '",
            c_str(name),
            b"' (",
            error_text(&e).as_bytes(),
            b")",
        ]))),
    }
}

fn default(cx: &Cx, which: i64, mode: &[u8]) -> NativeResult {
    if !cx.get(0).is_nil() {
        if cx.get(0).is_number() {
            cx.check_str(0)?;
        }
        let file = match cx.get(0).as_str() {
            Some(name) => open_or_raise(cx, name.bytes(), mode)?,
            None => {
                check_file(cx, 0)?;
                cx.get(0)
            }
        };
        if let Some(t) = cx.bound(0).as_table() {
            t.set_int(cx, which, file);
        }
    }
    cx.ret1(default_file(cx, which))
}

/// Implements `io.input([file])`.
fn input(cx: &mut Cx) -> NativeResult {
    default(cx, INPUT, b"r")
}

/// Implements `io.output([file])`.
fn output(cx: &mut Cx) -> NativeResult {
    default(cx, OUTPUT, b"w")
}

/// Implements `io.read(…)`.
fn read_default(cx: &mut Cx) -> NativeResult {
    let read = with_stream(cx, default_file(cx, INPUT), |s| read(cx, s, 0)).flatten();
    read.unwrap_or_else(|| Err(closed_default(cx, INPUT)))
}

/// Implements `io.write(…)`.
fn write_default(cx: &mut Cx) -> NativeResult {
    let file = default_file(cx, OUTPUT);
    let written = with_stream(cx, file, |s| write(cx, s, 0, file)).flatten();
    written.unwrap_or_else(|| Err(closed_default(cx, OUTPUT)))
}

/// Implements `io.lines([filename, …])`.
fn lines(cx: &mut Cx) -> NativeResult {
    if cx.is_none(0) {
        cx.push(Val::NIL);
    }
    if cx.get(0).is_nil() {
        cx.set(0, default_file(cx, INPUT));
        check_file(cx, 0)?;
        return cx.ret1(line_iterator(cx, false)?);
    }
    let name = cx.check_str(0)?.bytes();
    let file = open_or_raise(cx, name, b"r")?;
    cx.set(0, file);
    let f = line_iterator(cx, true)?;
    cx.push(f);
    cx.push(Val::NIL);
    cx.push(Val::NIL);
    cx.push(file);
    cx.ret(4)
}

#[cfg(test)]
mod tests {
    use super::valid_mode;

    #[test]
    fn modes() {
        for m in ["r", "w", "a", "r+", "w+b", "rb", "a+bb"] {
            assert!(valid_mode(m.as_bytes()), "{m}");
        }
        for m in ["", "x", "rw", "r++", "br", "+"] {
            assert!(!valid_mode(m.as_bytes()), "{m}");
        }
    }
}
