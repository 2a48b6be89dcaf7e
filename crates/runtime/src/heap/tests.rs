//! Tests of the heap on whole states.

#![allow(clippy::ok_expect, clippy::needless_range_loop)]

mod fuzz;
mod resurrection;
mod scenarios;
mod shortage;
mod stops;
mod weak;

use std::cell::RefCell;

use crate::engine::EngineShared;
use crate::native::Raised;
use crate::state::State;
use crate::state::Vm;
use crate::table::Table;
use crate::thread::Thread;
use crate::value::{SlotExt, Value};

thread_local! {
    /// The numbers of the finalized objects: field 1 of each object that a finalizer was called
    /// with.
    static FINALIZED: RefCell<Vec<i64>> = const { RefCell::new(Vec::new()) };
}

/// Stands for a call of a finalizer: records the object's element 1.
unsafe fn call(st: *mut State, callee: *mut Value, nargs: usize) -> Result<usize, Raised> {
    assert_eq!(nargs, 1);
    let object = callee.add(2).get();
    FINALIZED.with_borrow_mut(|f| f.push(Table::get_int(object.as_table(), 1).as_int()));
    (*st).top = callee;
    Ok(0)
}
unsafe fn resume(_: *mut State, _: *mut Thread, _: usize) -> Result<usize, Raised> {
    unreachable!()
}
unsafe fn close(_: *mut State, _: *mut Thread) -> Result<(), Raised> {
    unreachable!()
}
unsafe fn handle(_: *mut State) {}
unsafe fn continuable(_: *mut State, _: *mut Value, _: usize) -> Result<Option<usize>, Raised> {
    unreachable!()
}
static NO_CODE: std::sync::atomic::AtomicPtr<u8> =
    std::sync::atomic::AtomicPtr::new(std::ptr::null_mut());
static VM: Vm = Vm {
    call,
    continuable,
    traced: call,
    finalize: call,
    hook: call,
    handle,
    resume,
    switch: |_| unreachable!(),
    idle_slot: &NO_CODE,
    close,
};

/// A new state, which is freed in the end, also after a panic.
struct Fresh(*mut State);

impl Fresh {
    fn new() -> Fresh {
        FINALIZED.with_borrow_mut(Vec::clear);
        Fresh(State::create(EngineShared::new(), &VM))
    }
}

impl Drop for Fresh {
    fn drop(&mut self) {
        // SAFETY: the state was created by `new`, and is freed once.
        unsafe { State::destroy(self.0) };
    }
}

/// Runs `f` on a new state.
fn with_state(f: unsafe fn(&mut State)) {
    let st = Fresh::new();
    // SAFETY: the state is fresh, and used only here.
    unsafe { f(&mut *st.0) };
}

fn finalized() -> Vec<i64> {
    FINALIZED.take()
}

/// Pushes a value, so that it is rooted.
unsafe fn push(st: &mut State, v: Value) {
    st.top.put(v);
    st.top = st.top.add(1);
}

/// Returns a new empty table that is on the stack.
unsafe fn table(st: &mut State) -> *mut Table {
    let t = Table::new(st, 0, 0);
    push(st, Value::table(t));
    t
}

/// Returns a new table that is not rooted.
unsafe fn loose_table(st: &mut State) -> Value {
    Value::table(Table::new(st, 0, 0))
}

unsafe fn set_name(st: &mut State, t: *mut Table, name: &str, v: Value) {
    let name = st.intern(name.as_bytes());
    Table::set_str_const(st, t, name, v);
}

unsafe fn get_name(st: &mut State, t: *mut Table, name: &str) -> Value {
    let name = st.intern(name.as_bytes());
    Table::get_str(t, name)
}

/// Returns a new weak table that is on the stack.
unsafe fn weak_table(st: &mut State, mode: &str) -> *mut Table {
    let t = table(st);
    let meta = Table::new(st, 0, 0);
    let mode = Value::string(st.intern(mode.as_bytes()));
    set_name(st, meta, "__mode", mode);
    assert!(Table::set_metatable(st, t, meta));
    t
}

/// Gives `t` a metatable with a finalizer, sets its element 1 to the number to be recorded, and
/// registers it.
unsafe fn finalizable(st: &mut State, t: *mut Table, number: i64) {
    let meta = Table::new(st, 0, 0);
    set_name(st, meta, "__gc", Value::TRUE);
    assert!(Table::set_metatable(st, t, meta));
    Table::set_int(st, t, 1, Value::int(number));
    st.register_finalizer(Value::table(t));
}

unsafe fn entries(st: *mut State, t: *mut Table) -> usize {
    let (mut n, mut key) = (0, Value::NIL);
    while let Some((k, _)) = Table::next(st, t, key).expect("keys come from the table") {
        (n, key) = (n + 1, k);
    }
    n
}
