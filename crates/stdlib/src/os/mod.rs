//! The library `os` (manual 6.9).

mod date;

use std::fs::{File, OpenOptions};
use std::hash::{BuildHasher, Hasher};
use std::os::unix::fs::OpenOptionsExt;

use perilune_runtime::native::{Cx, NativeFn, NativeResult, Raised, Val};

use crate::io::{exec_result, file_result, finish_all, flush_all, path, shell};
use crate::support::{c_str, check_option, library, names, publish, system_str};

const FUNCTIONS: &[(&str, NativeFn)] = &[
    ("clock", clock),
    ("date", date::date),
    ("difftime", date::difftime),
    ("execute", execute),
    ("exit", exit),
    ("getenv", getenv),
    ("remove", remove),
    ("rename", rename),
    ("setlocale", setlocale),
    ("time", date::time),
    ("tmpname", tmpname),
];

/// The names of the library's fields.
static NAMES: [&str; FUNCTIONS.len()] = names(FUNCTIONS, &[]);

/// Opens `os`.
///
/// # Errors
/// Returns "not enough memory".
pub fn open(cx: &mut Cx) -> Result<(), Raised> {
    let cx = &*cx;
    let lib = library(cx, &NAMES, FUNCTIONS);
    publish(cx, "os", lib);
    Ok(())
}

/// Implements `os.clock()`.
fn clock(cx: &mut Cx) -> NativeResult {
    cx.ret1(Val::float(perilune_runtime::sys::processor_time()))
}

/// Implements `os.execute([command])`.
fn execute(cx: &mut Cx) -> NativeResult {
    if cx.get(0).is_nil() {
        return cx.ret1(Val::bool(true));
    }
    let command = system_str(cx, 0)?;
    // what was printed comes before the output of the command
    flush_all();
    let mut command = shell(command);
    match cx.blocking(|| command.status()) {
        Ok(status) => exec_result(cx, status),
        Err(e) => file_result(cx, Err(e), None),
    }
}

/// Implements `os.exit([code [, close]])`.
fn exit(cx: &mut Cx) -> NativeResult {
    let code = match cx.get(0).as_bool() {
        Some(true) => 0,
        Some(false) => 1,
        None => cx.opt_int(0, 0)? as i32,
    };
    if cx.get(1).truthy() {
        cx.close_state();
    }
    finish_all();
    std::process::exit(code)
}

/// Implements `os.getenv(name)`.
fn getenv(cx: &mut Cx) -> NativeResult {
    use std::os::unix::ffi::OsStrExt;
    let name = system_str(cx, 0)?;
    // No variable has such a name.
    if name.is_empty() || name.contains(&b'=') {
        return cx.ret1(Val::NIL);
    }
    match std::env::var_os(path(name)) {
        Some(v) => cx.ret1(cx.str(v.as_bytes()).val()),
        None => cx.ret1(Val::NIL),
    }
}

/// Implements `os.remove(filename)`.
fn remove(cx: &mut Cx) -> NativeResult {
    let name = system_str(cx, 0)?;
    let p = path(name);
    // Like C's `remove`, this removes a directory as `rmdir` does. The error that systems give for
    // the attempt to unlink one is EISDIR or EPERM.
    let is_dir = || std::fs::symlink_metadata(p).is_ok_and(|m| m.is_dir());
    let r = match std::fs::remove_file(p) {
        Err(_) if is_dir() => std::fs::remove_dir(p),
        r => r,
    };
    file_result(cx, r, Some(name))
}

/// Implements `os.rename(from, to)`.
fn rename(cx: &mut Cx) -> NativeResult {
    let (from, to) = (system_str(cx, 0)?, system_str(cx, 1)?);
    file_result(cx, std::fs::rename(path(from), path(to)), None)
}

/// Implements `os.setlocale([locale [, category]])`. The only locale is "C".
fn setlocale(cx: &mut Cx) -> NativeResult {
    let name = cx.opt_str(0)?;
    let categories = ["all", "collate", "ctype", "monetary", "numeric", "time"];
    check_option(cx, 1, Some("all"), &categories)?;
    match name.map(|n| c_str(n.bytes())) {
        None | Some(b"" | b"C" | b"POSIX") => cx.ret1(cx.str(b"C").val()),
        Some(_) => cx.ret1(Val::NIL),
    }
}

/// The folder of temporary files.
const TEMPORARY: &str = "/tmp";

/// Returns the options of temporary files, which only their owner may use.
fn temporary_options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true).mode(0o600);
    options
}

/// Creates a new file and returns its path.
fn create_temporary() -> std::io::Result<(File, String)> {
    const LETTERS: &[u8; 62] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    let mut tries = 0;
    loop {
        let mut n = std::collections::hash_map::RandomState::new().build_hasher().finish();
        let mut name = format!("{TEMPORARY}/lua_");
        for _ in 0..6 {
            name.push(char::from(LETTERS[(n % 62) as usize]));
            n /= 62;
        }
        match temporary_options().create_new(true).open(&name) {
            Ok(f) => return Ok((f, name)),
            Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists && tries < 100 => tries += 1,
            Err(e) => return Err(e),
        }
    }
}

/// Creates a file without a name.
pub(crate) fn temporary_file() -> std::io::Result<File> {
    // Not all file systems can do this in one step.
    #[cfg(target_os = "linux")]
    if let Ok(f) = temporary_options().custom_flags(libc::O_TMPFILE).open(TEMPORARY) {
        return Ok(f);
    }
    let (f, name) = create_temporary()?;
    std::fs::remove_file(name)?;
    Ok(f)
}

/// Implements `os.tmpname()`.
fn tmpname(cx: &mut Cx) -> NativeResult {
    match create_temporary() {
        Ok((_, name)) => cx.ret1(cx.str(name.as_bytes()).val()),
        Err(_) => Err(cx.error("unable to generate a unique filename")),
    }
}
