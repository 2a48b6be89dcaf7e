//! Coroutines (manual 4.6).

use std::ffi::c_int;

use perilune_runtime::frame::{Frame, FrameWord};
use perilune_runtime::state::State;
use perilune_runtime::thread::{Status, Thread};
use perilune_runtime::value::{SlotExt, Value};

use crate::entry::Entry;
use crate::hooks::NOT_YIELDABLE_IN_HOOK;
use crate::new_hooks::install_new;
use crate::outcome::raising;
use crate::push::safepoint;
use crate::stack::move_values;
use crate::state::LuaState;
use crate::status::{OK, RUNTIME, YIELD, status_of_kind};

/// Returns the status of a coroutine that an error has ended.
unsafe fn status_of_death(th: *mut Thread) -> c_int {
    status_of_kind((*th).death_kind)
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn lua_status(l: *mut LuaState) -> c_int {
    let th = (*l).thread;
    if (*l).panicked != OK {
        return (*l).panicked;
    }
    if (*th).failed {
        return status_of_death(th);
    }
    let begun = (*th).base != (*th).stack && !Thread::is_idle(th);
    if (*th).status == Status::Suspended && begun { YIELD } else { OK }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn lua_isyieldable(l: *mut LuaState) -> c_int {
    // the hook itself is called as a function that cannot yield
    let of_hook = if (*l).in_hook { NOT_YIELDABLE_IN_HOOK } else { 0 };
    c_int::from((*(*l).thread).non_yieldable == of_hook)
}

/// Pushes a message on a coroutine that cannot be resumed, in place of the arguments.
unsafe fn refuse(l: *mut LuaState, nargs: usize, message: &[u8]) -> c_int {
    let e = Entry::new(l);
    (*e.st).top = (*e.st).top.sub(nargs);
    let message = Value::string((*e.st).intern(message));
    e.push(message);
    RUNTIME
}

/// Switches to the coroutine `to`. The previously running coroutine gets the status
/// `status_of_other`.
unsafe fn switch_to(st: *mut State, to: *mut Thread, status_of_other: Status) {
    let from = (*st).thread;
    Thread::save_registers(st);
    (*from).status = status_of_other;
    (*to).status = Status::Running;
    Thread::load_registers(st, to);
    (*st).barrier(from.cast());
    (*st).barrier(to.cast());
    (*st).sync_hook();
}

/// Makes it possible to resume the main coroutine of a state that C code has created, while no
/// function is running in it. The coroutine is then running only nominally, and another one becomes
/// the running one in its place. Returns whether that was possible.
unsafe fn stand_in(l: *mut LuaState) -> bool {
    let (st, main, global) = (LuaState::state(l), (*l).thread, (*l).global);
    let calls = (*st).base != (*main).stack.add(Frame::RESERVED);
    if main != (*st).main_thread || (*global).lua.is_none() || calls {
        return false;
    }
    if (*global).stand_in.is_null() {
        let th = State::new_thread(st, Value::NIL);
        (*st).add_host_root(Value::thread(th));
        Thread::make_bottom(th);
        (*th).top = (*th).base;
        (*th).non_yieldable = 1;
        (*global).stand_in = th;
    }
    // its frame holds values of the host
    (*main).has_bottom = true;
    (*main).non_yieldable = 0;
    switch_to(st, (*global).stand_in, Status::Suspended);
    true
}

/// Makes the main coroutine the running one again, if `l` is its block, another one stands in for
/// it, and it has ended or was never started.
unsafe fn end_stand_in(l: *mut LuaState) {
    let (st, co) = (LuaState::state(l), (*l).thread);
    let stands_in = (*st).thread == (*(*l).global).stand_in;
    if co != (*st).main_thread || !stands_in || (*co).failed || !Thread::is_idle(co) {
        return;
    }
    (*co).non_yieldable = 1;
    switch_to(st, co, Status::Suspended);
    Frame((*st).base).set_word(FrameWord::new(FrameWord::NATIVE, 0));
}

/// Closes the main coroutine of a state that is about to be closed, if it was resumed.
///
/// # Safety
/// C1; `l` is the block of the main coroutine.
pub(crate) unsafe fn close_main(l: *mut LuaState) {
    let stand_in = (*(*l).global).stand_in;
    if !stand_in.is_null() && (*LuaState::state(l)).thread == stand_in {
        close(l);
    }
}

/// Resumes the coroutine of `l`, which is not running, with its last `nargs` values. Afterwards its
/// values are the results, or its last value is the error. Sets the number of results unless the
/// coroutine cannot be resumed.
unsafe fn resume(l: *mut LuaState, nargs: usize, results: &mut Option<usize>) -> c_int {
    let (st, co) = (LuaState::state(l), (*l).thread);
    Thread::make_bottom(co);
    let idle = Thread::is_idle(co);
    if (*co).top > (*co).base.add(nargs) {
        Thread::begin_again(co);
    }
    match (*co).status {
        Status::Suspended => {}
        Status::Dead => return refuse(l, nargs, b"cannot resume dead coroutine"),
        _ => return refuse(l, nargs, b"cannot resume non-suspended coroutine"),
    }
    if idle && (*co).top <= (*co).base.add(nargs) {
        return refuse(l, nargs, b"cannot resume dead coroutine");
    }
    let running = LuaState::of(st, (*st).thread);
    install_new((*l).global);
    move_values(st, co, running, nargs);
    if !idle && (*co).hook_yielded.is_none() {
        // The function finds as many values as it had below the yielded ones. PUC passes on what C
        // code has left.
        let kept = (Frame((*co).base).word().pc() >> 8) as usize;
        (*co).top = (*co).base.add(kept);
    }
    match ((*st).vm.resume)(st, co, nargs) {
        Ok(n) => {
            let yielded = (*co).status == Status::Suspended;
            Thread::make_bottom(co);
            move_values(st, (*st).thread, l, n);
            *results = Some(n);
            if yielded { YIELD } else { OK }
        }
        Err(_) => {
            let error = std::mem::replace(&mut (*st).error, Value::NIL);
            Thread::make_bottom(co);
            Entry::new(l).push(error);
            *results = Some(1);
            if (*co).failed { status_of_death(co) } else { RUNTIME }
        }
    }
}

raising! {
    fn lua_newthread(l) -> *mut LuaState |e| {
        install_new((*l).global);
        let th = State::new_thread(e.st, Value::NIL);
        e.push(Value::thread(th));
        Thread::make_bottom(th);
        // remove the function with which it was created
        (*th).top = (*th).base;
        safepoint(e)?;
        Ok(LuaState::of(e.st, th))
    }

    fn lua_resume(l, _from: *mut LuaState, nargs: c_int, results: *mut c_int) -> c_int |e| {
        // The coroutine that was running before this call resumes it.
        if (*e.st).thread == (*l).thread && e.is_running() && !stand_in(l) {
            let message = e.cx().str(b"cannot resume non-suspended coroutine").val().raw();
            (*e.st).top = (*e.st).top.sub(nargs as usize);
            e.push(message);
            return Ok(RUNTIME);
        }
        // The coroutine may yield again before its next safepoint. If memory is short, the next
        // operation that may fail reports it.
        let _ = safepoint(e);
        e.leave();
        let mut count = None;
        let status = resume(l, nargs as usize, &mut count);
        end_stand_in(l);
        if let Some(n) = count.filter(|_| !results.is_null()) {
            results.write(n as c_int);
        }
        Ok(status)
    }
}

/// Closes a coroutine. If there is an error, it is then the coroutine's only value.
unsafe fn close(l: *mut LuaState) -> c_int {
    let (st, co) = (LuaState::state(l), (*l).thread);
    if (*st).thread == co || (*co).status == Status::Normal {
        return RUNTIME;
    }
    (*l).continuations.clear();
    let failed = ((*st).vm.close)(st, co).is_err();
    Thread::make_bottom(co);
    end_stand_in(l);
    if !failed {
        return OK;
    }
    let status = status_of_kind((*st).error_kind);
    let error = std::mem::replace(&mut (*st).error, Value::NIL);
    Entry::new(l).push(error);
    status
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn lua_resetthread(l: *mut LuaState) -> c_int {
    close(l)
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn lua_closethread(l: *mut LuaState, _: *mut LuaState) -> c_int {
    close(l)
}

raising! {
    fn lua_toclose(l, index: c_int) |e| {
        use perilune_runtime::debug::close_error;
        use perilune_runtime::meta::Event;
        use perilune_runtime::table::Table;
        let st = e.st;
        let Some(place) = crate::index::place(st, index) else { return Ok(()) };
        let v = place.get();
        if !v.truthy() {
            return Ok(());
        }
        if Table::metamethod(st, v, Event::Close).is_nil() {
            return Err(close_error(st, place).into());
        }
        let slot = place.offset_from((*(*st).thread).stack) as u32;
        let pending = &mut (*(*st).thread).to_close;
        if pending.try_reserve(1).is_err() {
            return Err(e.cx().memory_error().into());
        }
        pending.push(slot);
        Ok(())
    }

    fn lua_closeslot(l, index: c_int) |e| {
        let st = e.st;
        let Some(place) = crate::index::place(st, index) else { return Ok(()) };
        let at = place.offset_from((*st).base) as usize;
        crate::run::close_from(st, at, None)?;
        (*st).base.add(at).put(Value::NIL);
        Ok(())
    }
}
