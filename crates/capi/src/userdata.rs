//! Full userdata (manual 4.6): blocks of memory with user values.

use std::ffi::{c_int, c_void};

use perilune_runtime::native::{Raised, Val};
use perilune_runtime::value::{SlotExt, Tag, Value};

use crate::entry::Entry;
use crate::index::value_or_nil;
use crate::outcome::{infallible, raising};
use crate::push::safepoint;
use crate::state::{Alloc, LuaState};
use crate::status::{NONE, type_of};

/// The largest size of a userdata for which memory is requested at all, as in PUC.
const MOST: usize = isize::MAX as usize - 40;

/// `LUA_TUSERDATA`, which the allocator receives in place of the old size when a block is new.
const USERDATA: usize = 7;

/// Returns whether an allocator has this much memory.
unsafe fn has((alloc, data): (Alloc, *mut c_void), size: usize) -> bool {
    let p = alloc(data, std::ptr::null_mut(), USERDATA, size);
    if !p.is_null() {
        alloc(data, p, size, 0);
    }
    !p.is_null()
}

/// Asks the allocator of a state that C code has created whether it has memory for a userdata. The
/// heap allocates memory by the megabyte, and a program that limits memory in its allocator expects
/// that userdata can be refused.
///
/// # Errors
/// Returns "not enough memory" if there is no memory even after a collection.
#[inline(never)]
unsafe fn ask_allocator(l: *mut LuaState, e: &mut Entry, size: usize) -> Result<(), Raised> {
    let Some(alloc) = (*(*l).global).alloc else { return Ok(()) };
    if has(alloc, size.max(1)) {
        return Ok(());
    }
    let short = e.cx().memory_error();
    e.cx().after_collecting(short)?;
    if has(alloc, size.max(1)) { Ok(()) } else { Err(e.cx().memory_error()) }
}

raising! {
    fn lua_newuserdatauv(l, size: usize, values: c_int) -> *mut c_void |e| {
        if size > MOST {
            return Err(e.cx().error_plain("memory allocation error: block too big").into());
        }
        if (*(*l).global).has_allocator {
            ask_allocator(l, e, size)?;
        }
        let cx = e.cx();
        cx.make_room(size)?;
        let u = cx.udata_of_memory(size, values.max(0) as usize)?.val().raw();
        e.push(u);
        safepoint(e)?;
        Ok((*u.as_userdata()).block.cast())
    }
}

infallible! {
    fn lua_getiuservalue(l, index: c_int, n: c_int) -> c_int |e| {
        let u = value_or_nil(e.st, index);
        let at = usize::try_from(n).ok().and_then(|n| n.checked_sub(1));
        let found = match (u.tag(), at) {
            (Tag::USERDATA, Some(i)) => (&(*u.as_userdata()).user_values).get(i).copied(),
            _ => None,
        };
        e.push(found.unwrap_or(Value::NIL));
        found.map_or(NONE, type_of)
    }

    fn lua_setiuservalue(l, index: c_int, n: c_int) -> c_int |e| {
        let u = value_or_nil(e.st, index);
        let v = (*e.st).top.sub(1).get();
        let cx = e.cx();
        let at = usize::try_from(n).ok().and_then(|n| n.checked_sub(1));
        let stored = match (Val::of(cx, u).as_udata(), at) {
            (Some(u), Some(i)) => u.set_user_value(cx, i, Val::of(cx, v)),
            _ => false,
        };
        e.pop();
        c_int::from(stored)
    }
}
