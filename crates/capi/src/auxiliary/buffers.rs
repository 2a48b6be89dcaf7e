//! String buffers (manual 5, `luaL_Buffer`).
//!
//! A buffer begins inside the C structure, and moves to a userdata, the *box*, when it becomes
//! larger. The macros of `lauxlib.h` write into it, so its layout is PUC's. From its initialization
//! on, a buffer occupies one value on the stack: at first a light userdata as a placeholder, later
//! the box.

use std::ffi::c_char;

use perilune_runtime::native::Val;
use perilune_runtime::value::{SlotExt, Value};

use crate::access::string_at;
use crate::entry::Entry;
use crate::outcome::{Fallible, Outcome, guarded, raising};
use crate::push::{bytes, c_bytes, push_bytes, safepoint};
use crate::state::LuaState;

/// `LUAL_BUFFERSIZE`
const INITIAL: usize = 16 * size_of::<*const ()>() * size_of::<f64>();

/// `luaL_Buffer`
#[repr(C)]
pub(crate) struct Buffer {
    b: *mut c_char,
    size: usize,
    n: usize,
    l: *mut LuaState,
    init: [f64; INITIAL / size_of::<f64>()],
}

const _: () = assert!(std::mem::offset_of!(Buffer, init) == 32 && INITIAL == 1024);

unsafe fn initial(buffer: *mut Buffer) -> *mut c_char {
    (&raw mut (*buffer).init).cast()
}

/// Returns where `more` bytes can be written, if there is room for them.
#[inline(always)]
unsafe fn room(buffer: *mut Buffer, more: usize) -> Option<*mut c_char> {
    let (n, size) = ((*buffer).n, (*buffer).size);
    (size - n >= more).then(|| (*buffer).b.add(n))
}

/// Appends a text, if there is room for it.
#[inline(always)]
unsafe fn add_within(buffer: *mut Buffer, text: &[u8]) -> Option<()> {
    let to = room(buffer, text.len())?;
    to.copy_from_nonoverlapping(text.as_ptr().cast(), text.len());
    (*buffer).n += text.len();
    Some(())
}

/// Returns where `more` bytes can be written. The box is at index `at`, counted from the top of the
/// stack.
unsafe fn prepare(
    e: &mut Entry,
    buffer: *mut Buffer,
    more: usize,
    at: usize,
) -> Fallible<*mut c_char> {
    if let Some(to) = room(buffer, more) {
        return Ok(to);
    }
    let (n, size) = ((*buffer).n, (*buffer).size);
    if usize::MAX - more < n {
        return Err(e.cx().error("buffer too large").into());
    }
    // grows as in PUC, at least by half
    let new_size = (size / 2).saturating_mul(3).max(n + more);
    e.cx().make_room(new_size)?;
    let place = (*e.st).top.sub(at);
    let cx = e.cx();
    if let Some(u) = Val::of(cx, place.get()).as_udata() {
        cx.resize_block(u, new_size)?;
    } else {
        let made = cx.udata_with_block(new_size)?.val().raw();
        (*made.as_userdata()).block.cast::<c_char>().copy_from_nonoverlapping((*buffer).b, n);
        place.put(made);
    }
    let block: *mut c_char = (*place.get().as_userdata()).block.cast();
    (*buffer).b = block;
    (*buffer).size = new_size;
    safepoint(e)?;
    Ok(block.add(n))
}

unsafe fn add(e: &mut Entry, buffer: *mut Buffer, text: &[u8]) -> Fallible<()> {
    if !text.is_empty() {
        prepare(e, buffer, text.len(), 1)?;
        add_within(buffer, text);
    }
    Ok(())
}

unsafe fn init(e: &mut Entry, l: *mut LuaState, buffer: *mut Buffer) {
    (*buffer).l = l;
    (*buffer).b = initial(buffer);
    (*buffer).n = 0;
    (*buffer).size = INITIAL;
    e.push(Value::light(buffer.expose_provenance() as u64));
}

unsafe fn push_result(e: &mut Entry, buffer: *mut Buffer) -> Fallible<()> {
    push_bytes(e, bytes((*buffer).b, (*buffer).n))?;
    // the string takes the place of the box
    let s = e.pop();
    let place = (*e.st).top.sub(1);
    let cx = e.cx();
    if let Some(u) = Val::of(cx, place.get()).as_udata() {
        // nothing refers to the box any more, and it may be large
        cx.resize_block(u, 0)?;
    }
    place.put(s);
    Ok(())
}

/// Appends a text in which each occurrence of `pattern` is replaced.
unsafe fn add_replaced(
    e: &mut Entry,
    buffer: *mut Buffer,
    mut text: &[u8],
    pattern: &[u8],
    by: &[u8],
) -> Fallible<()> {
    let found = |text: &[u8]| text.windows(pattern.len().max(1)).position(|w| w == pattern);
    while let Some(i) = found(text) {
        add(e, buffer, &text[..i])?;
        add(e, buffer, by)?;
        text = &text[i + pattern.len()..];
    }
    add(e, buffer, text)
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn luaL_buffinit(l: *mut LuaState, buffer: *mut Buffer) {
    init(&mut Entry::new(l), l, buffer);
}

raising! {
    fn luaL_buffinitsize(l, buffer: *mut Buffer, size: usize) -> *mut c_char |e| {
        init(e, l, buffer);
        prepare(e, buffer, size, 1)
    }

    fn luaL_gsub(
        l,
        text: *const c_char,
        pattern: *const c_char,
        by: *const c_char,
    ) -> *const c_char |e| {
        let mut buffer = std::mem::MaybeUninit::<Buffer>::uninit();
        let buffer = buffer.as_mut_ptr();
        init(e, l, buffer);
        add_replaced(e, buffer, c_bytes(text), c_bytes(pattern), c_bytes(by))?;
        push_result(e, buffer)?;
        let s = string_at(e.st, -1);
        Ok(s.map_or(std::ptr::null(), |s| crate::access::text(s, std::ptr::null_mut())))
    }
}

/// Defines functions that can raise an error and whose first argument is a buffer: `|e| body`,
/// after an expression that yields the result if the buffer need not grow.
macro_rules! of_buffer {
    ($(
        fn $name:ident($buffer:ident $(, $arg:ident: $type:ty)*)
            $(-> $ret:ty)? $([$within:expr])? |$e:ident| $body:block
    )*) => {$(
        #[unsafe(no_mangle)]
        #[unsafe(naked)]
        pub(crate) unsafe extern "C" fn $name($buffer: *mut Buffer $(, $arg: $type)*) $(-> $ret)? {
            unsafe extern "C" fn body($buffer: *mut Buffer $(, $arg: $type)*) -> Outcome {
                $(if let Some(r) = $within {
                    return Outcome::returned(r);
                })?
                guarded((*$buffer).l, move |$e| $body)
            }
            crate::arch::stub!(body)
        }
    )*};
}

of_buffer! {
    fn luaL_prepbuffsize(buffer, more: usize) -> *mut c_char [room(buffer, more)] |e| {
        prepare(e, buffer, more, 1)
    }

    fn luaL_addlstring(buffer, s: *const c_char, len: usize) [
        add_within(buffer, bytes(s, len))
    ] |e| {
        add(e, buffer, bytes(s, len))
    }

    fn luaL_addstring(buffer, s: *const c_char) [add_within(buffer, c_bytes(s))] |e| {
        add(e, buffer, c_bytes(s))
    }

    fn luaL_addvalue(buffer) |e| {
        // the value lies above the box
        if let Some(s) = string_at(e.st, -1) {
            let text = perilune_runtime::string::LuaString::bytes(s);
            prepare(e, buffer, text.len(), 2)?;
            add_within(buffer, text);
        }
        e.pop();
        Ok(())
    }

    fn luaL_addgsub(
        buffer,
        text: *const c_char,
        pattern: *const c_char,
        by: *const c_char
    ) |e| {
        add_replaced(e, buffer, c_bytes(text), c_bytes(pattern), c_bytes(by))
    }

    fn luaL_pushresult(buffer) |e| {
        push_result(e, buffer)
    }

    fn luaL_pushresultsize(buffer, more: usize) |e| {
        (*buffer).n += more;
        push_result(e, buffer)
    }
}
