//! The functions that machine code calls and that neither run Lua code nor collect: see
//! [`perilune_runtime::tier::RuntimeCalls`].
//!
//! Functions that are not run by [`panics::leaf`] cannot panic: they only compare, move or compute
//! values.

use std::ptr::null_mut;

use perilune_runtime::arith;
use perilune_runtime::closure::LuaClosure;
use perilune_runtime::frame::{Frame, FrameWord};
use perilune_runtime::header::GcHeader;
use perilune_runtime::instance::{FieldCache, GlobalCache, Instance};
use perilune_runtime::meta::Event;
use perilune_runtime::state::{State, StateRef};
use perilune_runtime::string::LuaString;
use perilune_runtime::table::{Cell, FillGlobal, Table};
use perilune_runtime::tier::{MISS, Pair};
use perilune_runtime::value::{SlotExt, Tag, Value};

use super::{miss, panics};
use crate::closure::make_closure;
use crate::index::{find_in_chain, peek_in_chain};
use crate::varargs::{copy_extra, lay_out};
use crate::{class, concat, for_loop, slots};

const NO_ANSWER: Pair = Pair { bits: 0, tag: MISS };

pub(super) unsafe extern "C" fn vararg_prep(
    _: *mut State,
    base: *mut Value,
    nargs: usize,
) -> *mut Value {
    let frame = Frame(base);
    let np = (*(*frame.callee().as_function()).instance).num_params as usize;
    let (moved, link) = lay_out(base, nargs, np, frame.link());
    let frame = Frame(moved);
    frame.set_word(FrameWord::new(FrameWord::INTERPRETER, 1));
    frame.set_link(link);
    moved
}

pub(super) unsafe extern "C" fn move_values(src: *mut Value, dst: *mut Value, n: usize) {
    slots::move_values(src, dst, n);
}

pub(super) unsafe extern "C" fn new_table(
    st: *mut State,
    inst: *mut Instance,
    pc: usize,
    fields: usize,
) -> *mut Table {
    panics::leaf(st, null_mut(), || Table::of_constructor(st, inst, pc, fields))
}

pub(super) unsafe extern "C" fn closure(
    st: *mut State,
    inst: *mut Instance,
    n: usize,
    base: *mut Value,
) -> *mut LuaClosure {
    panics::leaf(st, null_mut(), || make_closure(st, inst, n, base).as_function())
}

pub(super) unsafe extern "C" fn barrier(st: *mut State, owner: *mut GcHeader, stored: u64) {
    panics::leaf(st, (), || {
        (*st).barrier_with(owner, std::ptr::with_exposed_provenance_mut(stored as usize));
    })
}

pub(super) unsafe extern "C" fn field_more(
    st: *mut State,
    cache: *const FieldCache,
    t: *mut Table,
) -> Pair {
    panics::leaf(st, NO_ANSWER, || {
        let v = FieldCache::hit_get(st, cache, t);
        if v.is_some() {
            miss::count_any(st);
        }
        v.map_or(NO_ANSWER, Pair::from)
    })
}

pub(super) unsafe extern "C" fn set_more(
    st: *mut State,
    cache: *const FieldCache,
    t: *mut Table,
    bits: u64,
    tag: u64,
) -> u64 {
    panics::leaf(st, 0, || {
        let hit = FieldCache::hit_set(st, cache, t, Value::from_parts(bits, Tag(tag as u8)));
        if hit {
            miss::count_any(st);
        }
        hit as u64
    })
}

pub(super) unsafe extern "C" fn grow_fields(st: *mut State, t: *mut Table) -> u64 {
    panics::leaf(st, 0, || {
        Table::grow_fields(st, t);
        1
    })
}

/// Looks up a key as [`find_in_chain`] does.
unsafe fn found_in_chain(st: *mut State, t: *mut Table, get: impl Fn(*mut Table) -> Value) -> Pair {
    find_in_chain(st, t, get).map_or(NO_ANSWER, Pair::from)
}

pub(super) unsafe extern "C" fn fill_global(
    st: *mut State,
    inst: *mut Instance,
    cache: *mut GlobalCache,
    env: *mut Table,
    name: u64,
) -> *mut Cell {
    panics::leaf(st, null_mut(), || {
        find_cell(st, inst, cache, env, name, GlobalCache::refill_to_load)
    })
}

pub(super) unsafe extern "C" fn rely_on_global(
    st: *mut State,
    inst: *mut Instance,
    cache: *mut GlobalCache,
    env: *mut Table,
    name: u64,
) -> *mut Cell {
    panics::leaf(st, null_mut(), || find_cell(st, inst, cache, env, name, GlobalCache::rely))
}

/// Fills the inline cache of a global with `fill`, if it may hold the name.
unsafe fn find_cell(
    st: *mut State,
    inst: *mut Instance,
    cache: *mut GlobalCache,
    env: *mut Table,
    name: u64,
    fill: FillGlobal,
) -> *mut Cell {
    let name = Value::from_parts(name, Tag::STRING).as_string();
    // Other tables are not converted to environments here, since that would invalidate what the
    // code knows about them.
    if !Table::is_environment(env) || !GlobalCache::may_hold(name) {
        return null_mut();
    }
    fill(st, inst, cache, env, name)
}

pub(super) unsafe extern "C" fn get_str(st: *mut State, t: *mut Table, key: u64) -> Pair {
    panics::leaf(st, NO_ANSWER, || {
        let name = Value::from_parts(key, Tag::STRING).as_string();
        match Table::note_field(st, t, name) {
            Some(v) if !v.is_nil() => v.into(),
            _ => Table::get_along_chain(st, t, name, false).map_or(NO_ANSWER, Pair::from),
        }
    })
}

pub(super) unsafe extern "C" fn renew(
    st: *mut State,
    cache: *mut FieldCache,
    n: usize,
    t: *mut Table,
    name: u64,
) -> u64 {
    panics::leaf(st, 0, || {
        let name = Value::from_parts(name, Tag::STRING).as_string();
        u64::from(FieldCache::renew(st, cache, n, t, name))
    })
}

pub(super) unsafe extern "C" fn get_int(st: *mut State, t: *mut Table, key: i64) -> Pair {
    panics::leaf(st, NO_ANSWER, || {
        // the code relies on this function not to change anything
        peek_in_chain(st, t, |t| Table::get_int(t, key)).map_or(NO_ANSWER, Pair::from)
    })
}

pub(super) unsafe extern "C" fn note_metatable(st: *mut State, m: *mut Table) -> u64 {
    panics::leaf(st, 0, || {
        Table::note_metatable(st, m);
        Table::fast_event(st, m, Event::Gc).is_nil() as u64
    })
}

pub(super) unsafe extern "C" fn set_int(
    st: *mut State,
    t: *mut Table,
    key: i64,
    bits: u64,
    tag: u64,
) -> u64 {
    let v = Value::from_parts(bits, Tag(tag as u8));
    if Table::set_direct_plainly(t, key, v) {
        return 1;
    }
    set_any_int(st, t, key, bits, tag)
}

/// Implements [`set_int`] for the cases that it leaves, in a separate function because it saves
/// more registers.
#[inline(never)]
unsafe extern "C" fn set_any_int(
    st: *mut State,
    t: *mut Table,
    key: i64,
    bits: u64,
    tag: u64,
) -> u64 {
    panics::leaf(st, 0, || {
        let v = Value::from_parts(bits, Tag(tag as u8));
        Table::set_int_plainly(st, t, key, v) as u64
    })
}

pub(super) unsafe extern "C" fn set_str(
    st: *mut State,
    t: *mut Table,
    key: u64,
    bits: u64,
    tag: u64,
) -> u64 {
    panics::leaf(st, 0, || {
        let name = Value::from_parts(key, Tag::STRING).as_string();
        if !LuaString::is_short(name) || Table::is_relied_on(st, t, name) {
            return 0;
        }
        let v = Value::from_parts(bits, Tag(tag as u8));
        let stored = Table::set_short_plainly(st, t, name, v);
        if stored && !(*t).shape.is_null() {
            // for code that stores through the cache
            Table::note_field(st, t, name);
        }
        stored as u64
    })
}

pub(super) unsafe extern "C" fn for_next(st: *mut State, ra: *mut Value, wanted: usize) -> u64 {
    panics::leaf(st, 0, || for_loop::inline_round(ra, wanted) as u64)
}

pub(super) unsafe extern "C" fn get_any(st: *mut State, t: *mut Table, key: u64, tag: u64) -> Pair {
    panics::leaf(st, NO_ANSWER, || {
        let key = Value::from_parts(key, Tag(tag as u8));
        found_in_chain(st, t, |t| Table::get(t, key))
    })
}

pub(super) unsafe extern "C" fn set_any(
    st: *mut State,
    t: *mut Table,
    key: u64,
    key_tag: u64,
    bits: u64,
    tag: u64,
) -> u64 {
    panics::leaf(st, 0, || {
        let key = Value::from_parts(key, Tag(key_tag as u8));
        if key.is_string() && Table::is_relied_on(st, t, key.as_string()) {
            return 0;
        }
        let free = Table::lacks_newindex(t) || !Table::get(t, key).is_nil();
        // an invalid key leaves the table unchanged
        (free && Table::set_within(st, t, key, Value::from_parts(bits, Tag(tag as u8))).is_ok())
            as u64
    })
}

pub(super) unsafe extern "C" fn concat(st: *mut State, first: *mut Value, n: usize) -> u64 {
    panics::leaf(st, 0, || match concat::join_some(st, first, n) {
        Some(v) => {
            first.put(v);
            1
        }
        None => 0,
    })
}

pub(super) unsafe extern "C" fn for_prep(st: *mut State, ra: *mut Value) -> u64 {
    panics::leaf(st, 0, || {
        let all = [ra.get(), ra.add(1).get(), ra.add(2).get()];
        let step = all[2];
        let zero = if step.is_int() { step.as_int() == 0 } else { step.as_float() == 0.0 };
        if zero || !all.iter().all(|v| v.is_number()) {
            return 0;
        }
        match for_loop::prepare(st, ra) {
            Ok(false) => 1,
            Ok(true) => 2,
            Err(_) => unreachable!("only a wrong operand is an error"),
        }
    })
}

pub(super) unsafe extern "C" fn set_list(
    st: *mut State,
    t: *mut Table,
    start: u32,
    values: *mut Value,
    n: usize,
) -> u64 {
    panics::leaf(st, 0, || {
        Table::set_list(st, t, start, values, n);
        1
    })
}

pub(super) unsafe extern "C" fn var_arg(
    st: *mut State,
    base: *mut Value,
    a: usize,
    c: usize,
) -> u64 {
    panics::leaf(st, 0, || copy_extra(st, base, a, c) as u64)
}

pub(super) unsafe extern "C" fn for_each_prep(st: *mut State, ra: *mut Value) -> u64 {
    panics::leaf(st, 0, || {
        if ra.add(3).get().truthy() {
            return 0;
        }
        for_loop::inline_next(st, ra);
        1
    })
}

pub(super) unsafe extern "C" fn close(st: *mut State, place: *mut Value) -> u64 {
    panics::leaf(st, 0, || {
        let mut s = StateRef::new(st);
        s.close_upvalues(place);
        let offset = place.offset_from((*s.thread).stack) as u32;
        (&(*s.thread).to_close).last().is_none_or(|&slot| slot < offset) as u64
    })
}

pub(super) unsafe extern "C" fn next_to_close(
    st: *mut State,
    base: *mut Value,
    place: *mut Value,
) -> u64 {
    panics::leaf(st, 0, || {
        let s = StateRef::new(st);
        let th = s.thread;
        let offset = place.offset_from((*th).stack) as u32;
        let Some(&slot) = (&(*th).to_close).last().filter(|&&slot| slot >= offset) else {
            return 0;
        };
        let v = (*th).stack.add(slot as usize).get();
        let h = Table::metamethod(s.ptr(), v, Event::Close);
        if h.tag() != Tag::FUNCTION {
            return 0;
        }
        (&mut (*th).to_close).pop();
        let inst = (*Frame(base).callee().as_function()).instance;
        let callee = base.add((*inst).max_stack as usize);
        callee.put(h);
        callee.add(2).put(v);
        callee.add(3).put(Value::NIL);
        h.bits()
    })
}

pub(super) unsafe extern "C" fn mark_to_close(st: *mut State, place: *mut Value) -> u64 {
    panics::leaf(st, 0, || for_loop::mark_closable(st, place).into())
}

pub(super) unsafe extern "C" fn equal(st: *mut State, a: u64, b: u64, tag: u64) -> u64 {
    panics::leaf(st, 2, || {
        let tag = Tag(tag as u8);
        let (a, b) = (Value::from_parts(a, tag), Value::from_parts(b, tag));
        if matches!(tag, Tag::TABLE | Tag::USERDATA) {
            let s = StateRef::new(st);
            let handled = |v| !Table::metamethod(s.ptr(), v, Event::Eq).is_nil();
            return if [a, b].into_iter().any(handled) { 2 } else { 0 };
        }
        a.raw_equals(b) as u64
    })
}

pub(super) unsafe extern "C" fn compare_strings(a: u64, b: u64) -> i64 {
    let string = |bits| Value::from_parts(bits, Tag::STRING).as_string();
    LuaString::bytes(string(a)).cmp(LuaString::bytes(string(b))) as i64
}

pub(super) unsafe extern "C" fn set_class(st: *mut State, ra: *mut Value, c: usize) -> u64 {
    panics::leaf(st, 0, || class::set_class(st, ra, c) as u64)
}

pub(super) extern "C" fn pow(a: f64, b: f64) -> f64 {
    arith::pow(a, b)
}

pub(super) unsafe extern "C" fn float_mod(_st: *mut State, a: u64, b: u64) -> u64 {
    arith::float_mod(f64::from_bits(a), f64::from_bits(b)).to_bits()
}
