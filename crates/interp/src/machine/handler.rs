//! Finds metamethods for machine code, which calls them itself if they are Lua functions. Otherwise
//! the interpreter executes the instruction.

use perilune_runtime::meta::Event;
use perilune_runtime::state::{State, StateRef};
use perilune_runtime::table::Table;
use perilune_runtime::tier::{IndexHandler, STORED};
use perilune_runtime::value::{Tag, Value};

use super::panics;

unsafe fn value(bits: u64, tag: u64) -> Value {
    Value::from_parts(bits, Tag(tag as u8))
}

/// Returns the address of a Lua function, or 0 for other values.
unsafe fn lua_function(h: Value) -> u64 {
    if h.tag() == Tag::FUNCTION { h.bits() } else { 0 }
}

pub(super) unsafe extern "C" fn of_operands(
    st: *mut State,
    a: u64,
    a_tag: u64,
    b: u64,
    b_tag: u64,
    event: u64,
) -> u64 {
    panics::leaf(st, 0, || {
        let (a, b) = (value(a, a_tag), value(b, b_tag));
        // two numbers or two strings need no metamethod
        if a.is_number() && b.is_number() || a.is_string() && b.is_string() {
            return 0;
        }
        let event = Event::ALL[event as usize];
        // functions are called themselves
        if event == Event::Call && a.is_function() {
            return 0;
        }
        let s = StateRef::new(st);
        let mut h = Table::metamethod(s.ptr(), a, event);
        if h.is_nil() {
            h = Table::metamethod(s.ptr(), b, event);
        }
        lua_function(h)
    })
}

pub(super) unsafe extern "C" fn of_index(
    st: *mut State,
    object: u64,
    tag: u64,
    key: u64,
    key_tag: u64,
) -> IndexHandler {
    const NONE: IndexHandler = IndexHandler { function: 0, receiver: 0 };
    panics::leaf(st, NONE, || {
        let (mut receiver, key) = (value(object, tag), value(key, key_tag));
        for _ in 0..Table::MAX_CHAIN {
            if receiver.is_table() && !lacks(receiver.as_table(), key) {
                break;
            }
            let h = Table::metamethod(&mut *st, receiver, Event::Index);
            let is_chain = receiver.is_table() && h.is_table();
            if !is_chain {
                return IndexHandler { function: lua_function(h), receiver: receiver.bits() };
            }
            receiver = h;
        }
        NONE
    })
}

pub(super) unsafe extern "C" fn store_by_handler(
    st: *mut State,
    object: u64,
    tag: u64,
    key: u64,
    key_tag: u64,
    bits: u64,
    value_tag: u64,
) -> u64 {
    panics::leaf(st, 0, || {
        let (object, key) = (value(object, tag), value(key, key_tag));
        if object.is_table() && !lacks(object.as_table(), key) {
            return 0;
        }
        let h = Table::metamethod(&mut *st, object, Event::NewIndex);
        if !h.is_table() {
            return lua_function(h);
        }
        let mut t = h.as_table();
        for _ in 1..Table::MAX_CHAIN {
            let h = if lacks(t, key) { Table::event(st, t, Event::NewIndex) } else { Value::NIL };
            if h.is_nil() {
                if key.is_string() && Table::is_relied_on(st, t, key.as_string()) {
                    return 0;
                }
                // an invalid key leaves the table unchanged
                let stored = Table::set_within(st, t, key, value(bits, value_tag));
                return if stored.is_ok() { STORED } else { 0 };
            }
            if !h.is_table() {
                break;
            }
            t = h.as_table();
        }
        0
    })
}

/// Returns whether metatables must be searched for a key of a table.
unsafe fn lacks(t: *mut Table, key: Value) -> bool {
    Table::has_meta(t) && Table::get(t, key).is_nil()
}
