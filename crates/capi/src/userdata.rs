//! Full userdata (manual 4.6): blocks of memory with user values.

use std::ffi::{c_int, c_void};

use perilune_runtime::native::Val;
use perilune_runtime::value::{SlotExt, Tag, Value};

use crate::index::value_or_nil;
use crate::outcome::{infallible, raising};
use crate::push::safepoint;
use crate::status::{NONE, type_of};

/// The largest size of a userdata for which memory is asked at all, as in PUC.
const MOST: usize = isize::MAX as usize - 40;

raising! {
    fn lua_newuserdatauv(l, size: usize, values: c_int) -> *mut c_void |e| {
        let cx = e.cx();
        if size > MOST {
            return Err(cx.error_plain("memory allocation error: block too big").into());
        }
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
