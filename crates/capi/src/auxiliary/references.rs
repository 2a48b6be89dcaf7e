//! References (manual 5, `luaL_ref`).

use std::ffi::c_int;

use perilune_runtime::convert::to_integer;
use perilune_runtime::table::Table;
use perilune_runtime::value::Value;

use crate::index::value_or_nil;
use crate::outcome::raising;
use crate::set::set_raw;

/// `LUA_REFNIL`
const NIL: c_int = -1;

/// The index of the first free reference of a table. The references themselves are the next
/// integers, and each free one has the number of the next free one as its value.
const FREE: i64 = 3;

raising! {
    fn luaL_ref(l, index: c_int) -> c_int |e| {
        let t = value_or_nil(e.st, index).as_table();
        let v = e.pop();
        if v.is_nil() {
            return Ok(NIL);
        }
        e.push(v);
        let free = Table::get_int(t, FREE);
        let reference = if free.is_nil() {
            e.push(Value::int(0));
            set_raw(e, t, Value::int(FREE))?;
            0
        } else {
            to_integer(free).unwrap_or(0)
        };
        let reference = if reference != 0 {
            let next = Table::get_int(t, reference);
            e.push(next);
            set_raw(e, t, Value::int(FREE))?;
            reference
        } else {
            Table::length(t) + 1
        };
        set_raw(e, t, Value::int(reference))?;
        Ok(reference as c_int)
    }

    fn luaL_unref(l, index: c_int, reference: c_int) |e| {
        if reference < 0 {
            return Ok(());
        }
        let t = value_or_nil(e.st, index).as_table();
        let free = Table::get_int(t, FREE);
        e.push(free);
        set_raw(e, t, Value::int(i64::from(reference)))?;
        e.push(Value::int(i64::from(reference)));
        set_raw(e, t, Value::int(FREE))?;
        Ok(())
    }
}
