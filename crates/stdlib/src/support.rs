//! Shared helpers of the libraries: registration, positions in strings, options, a reusable buffer.

use std::cell::Cell;

use perilune_runtime::meta::Event;
use perilune_runtime::native::{Builtin, Cx, NativeFn, NativeResult, Raised, Tab, Val};

/// Concatenates the names of functions and other names, for [`library`].
pub(crate) const fn names<const N: usize>(
    functions: &[(&'static str, NativeFn)],
    more: &[&'static str],
) -> [&'static str; N] {
    assert!(functions.len() + more.len() == N);
    let mut names = [""; N];
    let mut i = 0;
    while i < N {
        names[i] = if i < functions.len() { functions[i].0 } else { more[i - functions.len()] };
        i += 1;
    }
    names
}

/// Makes a table with these functions and with room for the other fields in `names`, which begins
/// with the functions' names.
pub(crate) fn library<'a>(
    cx: &'a Cx,
    names: &'static [&'static str],
    functions: &[(&str, NativeFn)],
) -> Tab<'a> {
    cx.table_with(names, |i| match functions.get(i) {
        Some((_, f)) => cx.func(*f, &[]).val(),
        None => Val::NIL,
    })
}

/// Adds functions to a table.
pub(crate) fn register(cx: &Cx, t: Tab<'_>, functions: &[(&str, NativeFn)]) {
    for (name, f) in functions {
        t.set_name(cx, name, cx.func(*f, &[]).val());
    }
}

/// Tells the interpreter and the compiler which functions of a library are known ones.
pub(crate) fn make_known(cx: &Cx, library: Tab<'_>, functions: &[(&str, Builtin)]) {
    for (name, builtin) in functions {
        let f = library.get_name(cx, name).as_func().expect("the library has it");
        f.make_known(*builtin);
    }
}

/// Returns a table in the registry, after creating it if necessary.
pub(crate) fn registry_table<'a>(cx: &'a Cx, name: &str) -> Tab<'a> {
    if let Some(t) = cx.registry().get_name(cx, name).as_table() {
        return t;
    }
    let t = cx.table(0, 0);
    cx.registry().set_name(cx, name, t.val());
    t
}

/// Registers a library as a global and in `package.loaded`, and prepares the thread for its use.
pub(crate) fn publish(cx: &Cx, name: &str, library: Tab<'_>) {
    prepare_thread();
    cx.globals().set_name(cx, name, library.val());
    registry_table(cx, "_LOADED").set_name(cx, name, library.val());
}

/// Converts a start position, relative to the end if it is negative; the result is at least 1.
#[inline(always)]
pub(crate) fn start_position(pos: i64, len: usize) -> usize {
    if pos > 0 {
        pos as usize
    } else if pos == 0 || pos < -(len as i64) {
        1
    } else {
        (len as i64 + pos + 1) as usize
    }
}

/// Converts an end position, relative to the end if it is negative; the result is in `0 ..= len`.
#[inline(always)]
pub(crate) fn end_position(pos: i64, len: usize) -> usize {
    if pos > len as i64 {
        len
    } else if pos >= 0 {
        pos as usize
    } else if pos < -(len as i64) {
        0
    } else {
        (len as i64 + pos + 1) as usize
    }
}

/// Checks that an argument is one of a list of names (`luaL_checkoption`).
pub(crate) fn check_option(
    cx: &Cx,
    i: usize,
    default: Option<&str>,
    options: &[&str],
) -> Result<usize, Raised> {
    let name: &[u8] = match default {
        Some(d) if cx.get(i).is_nil() => d.as_bytes(),
        _ => c_str(cx.check_str(i)?.bytes()),
    };
    match options.iter().position(|o| o.as_bytes() == name) {
        Some(n) => Ok(n),
        None => {
            cx.check_room(2 * name.len())?;
            let mut text = b"invalid option '".to_vec();
            text.extend_from_slice(name);
            text.push(b'\'');
            Err(cx.arg_error(i, text))
        }
    }
}

/// Makes room for `n` values, or raises "stack overflow (why)".
pub(crate) fn reserve(cx: &Cx, n: usize, why: &str) -> Result<(), Raised> {
    cx.reserve(n).map_err(|_| cx.error(format!("stack overflow ({why})")))
}

/// Returns the bytes of a string up to its first zero, as C sees it.
pub(crate) fn c_str(bytes: &[u8]) -> &[u8] {
    match memchr::memchr(0, bytes) {
        Some(n) => &bytes[..n],
        None => bytes,
    }
}

/// Returns the C string in argument `i`, for a function of the system, which copies it. A message
/// about its failure may copy it once more.
pub(crate) fn system_str(cx: &Cx, i: usize) -> Result<&[u8], Raised> {
    let s = c_str(cx.check_str(i)?.bytes());
    cx.check_room(2 * s.len())?;
    Ok(s)
}

/// Concatenates the parts.
pub(crate) fn concat(parts: &[&[u8]]) -> Vec<u8> {
    parts.concat()
}

/// Returns `a == b`, with `__eq`, for the values at `a` and `b`.
pub(crate) fn equals(cx: &mut Cx, a: usize, b: usize) -> Result<bool, Raised> {
    let (x, y) = (cx.get(a), cx.get(b));
    if x.raw_equals(y) {
        return Ok(true);
    }
    let comparable = x.as_table().is_some() && y.as_table().is_some()
        || x.as_udata().is_some() && y.as_udata().is_some();
    if !comparable {
        return Ok(false);
    }
    let mut handler = cx.metamethod(x, Event::Eq);
    if handler.is_nil() {
        handler = cx.metamethod(y, Event::Eq);
    }
    if handler.is_nil() {
        return Ok(false);
    }
    cx.push_callee(handler);
    cx.push(x);
    cx.push(y);
    cx.call_n(2, 1)?;
    let r = cx.get(cx.top() - 1).truthy();
    cx.pop(1);
    Ok(r)
}

/// Maximum capacity, in bytes, that the reusable buffer keeps between uses.
const KEEP: usize = 1 << 20;

thread_local! {
    static BUFFER: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// Prepares the thread for its uses of [`take_buffer`]: the C library records that the buffer has
/// to be freed with the thread, and ends the process if there is no memory for that. The thread
/// that opens a library does this early, before a program can exhaust memory. Others to which the
/// host passes the state do it at their first use.
pub(crate) fn prepare_thread() {
    BUFFER.with(|_| ());
}

/// Takes the thread's reusable buffer, emptied. A nested use gets a new one.
pub(crate) fn take_buffer() -> Vec<u8> {
    let mut b = BUFFER.take();
    b.clear();
    b
}

/// Appends `bytes` to a buffer.
///
/// # Errors
/// Returns "not enough memory" if the buffer cannot grow.
#[inline]
pub(crate) fn extend(cx: &Cx, buffer: &mut Vec<u8>, bytes: &[u8]) -> Result<(), Raised> {
    if bytes.len() > buffer.capacity() - buffer.len() && buffer.try_reserve(bytes.len()).is_err() {
        return Err(cx.memory_error());
    }
    buffer.extend_from_slice(bytes);
    Ok(())
}

/// Returns the contents of the buffer as the result of a function, and gives the buffer back for
/// reuse.
pub(crate) fn finish(cx: &mut Cx, buffer: Vec<u8>) -> NativeResult {
    room_for(cx, &buffer)?;
    let s = cx.str_of_any_length(&buffer)?;
    give_buffer(buffer);
    cx.ret1(s.val())
}

/// Returns an error unless there is memory for a buffer and for the string created from it.
#[inline]
pub(crate) fn room_for(cx: &mut Cx, buffer: &[u8]) -> Result<(), Raised> {
    cx.make_room(2 * buffer.len())
}

/// Runs a function without side effects. If there is no room for its results, performs a collection
/// and runs it again.
pub(crate) fn twice<T>(cx: &mut Cx, f: impl Fn(&Cx) -> Result<T, Raised>) -> Result<T, Raised> {
    let top = cx.top();
    match f(cx) {
        Err(raised) => {
            cx.after_collecting(raised)?;
            cx.set_top(top);
            f(cx)
        }
        done => done,
    }
}

/// Gives a buffer back for reuse.
pub(crate) fn give_buffer(b: Vec<u8>) {
    if b.capacity() <= KEEP {
        BUFFER.set(b);
    }
}
