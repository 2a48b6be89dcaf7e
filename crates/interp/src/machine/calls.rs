//! The functions that machine code calls and that may run Lua code: see [`RuntimeCalls`].

use std::sync::atomic::Ordering;

use perilune_bytecode::feedback::operands as seen;
use perilune_bytecode::{Instr, Op};
use perilune_runtime::frame::{Frame, FrameWord, Link, flags};
use perilune_runtime::frames::Frames;
use perilune_runtime::instance::{FieldCache, Instance};
use perilune_runtime::native::Ret;
use perilune_runtime::state::{Returned, State, StateRef, poll};
#[cfg(handlers)]
use perilune_runtime::table::Table;
use perilune_runtime::thread::CallResults;
use perilune_runtime::tier::{Left, RuntimeCalls, Stepped, status};
use perilune_runtime::value::{SlotExt, Tag, Value};

use super::entry::{call_code, left_code};
use super::panics::{self, guarded};
use super::{builtin, float, handler, leaf, miss, preserve, stub, verify, virtuals};
use crate::closing_scope::close_for_return;
use crate::enter::{become_metamethod, code_of, is_function};
use crate::execute;
use crate::for_loop;
use crate::native::{
    after_native, call_for_instruction, call_function, native_returned, run_to_lua,
};
use crate::operators::call_meta1;
use crate::poll::safepoint;
use crate::run;
use crate::slots::move_values;
use crate::step::{Exit, Step};
use crate::tail::{TailCallee, tail_callee};
use crate::userdata::{self, Member};

/// The functions that machine code calls.
pub static CALLS: RuntimeCalls = RuntimeCalls {
    one,
    get_field,
    set_field,
    deoptimize_after,
    deoptimize_loop,
    deoptimize_before,
    deoptimize_virtual,
    call,
    call_iterator,
    poll: poll_word,
    tail_call,
    close_return,
    vararg_prep: leaf::vararg_prep,
    move_values: leaf::move_values,
    new_table: leaf::new_table,
    closure: leaf::closure,
    field_more: leaf::field_more,
    set_more: leaf::set_more,
    fill_global: leaf::fill_global,
    rely_on_global: leaf::rely_on_global,
    grow_fields: leaf::grow_fields,
    get_str: leaf::get_str,
    note_metatable: leaf::note_metatable,
    renew: leaf::renew,
    get_int: leaf::get_int,
    set_int: leaf::set_int,
    set_str: leaf::set_str,
    for_next: leaf::for_next,
    get_any: leaf::get_any,
    set_any: leaf::set_any,
    concat: leaf::concat,
    for_prep: leaf::for_prep,
    set_list: leaf::set_list,
    var_arg: leaf::var_arg,
    for_each_prep: leaf::for_each_prep,
    close: leaf::close,
    next_to_close: leaf::next_to_close,
    mark_to_close: leaf::mark_to_close,
    end_protected,
    equal: leaf::equal,
    compare_strings: leaf::compare_strings,
    set_class: leaf::set_class,
    handler: handler::of_operands,
    index_handler: handler::of_index,
    store_by_handler: handler::store_by_handler,
    barrier: leaf::barrier,
    float_mod: leaf::float_mod,
    pow: leaf::pow,
    acos: float::acos,
    asin: float::asin,
    atan: float::atan,
    cos: float::cos,
    exp: float::exp,
    fmod: float::fmod,
    log: float::log,
    sin: float::sin,
    tan: float::tan,
    builtins: &builtin::LEAVES,
    verify_register: verify::register,
    verify_closure: verify::closure,
    verify_entry: verify::entry,
    verify_lookup: verify::lookup,
    verify_variable: verify::variable,
    preserving_one: preserve::ONE,
    preserving_get_field: preserve::GET_FIELD,
    preserving_set_field: preserve::SET_FIELD,
    preserving_poll: preserve::POLL,
    preserving_quiet_poll: preserve::QUIET_POLL,
    preserving_quiet_poll_to: preserve::QUIET_POLL_TO,
    preserving_for_next: preserve::FOR_NEXT,
    preserving_new_table: preserve::NEW_TABLE,
    preserving_virtuals: preserve::VIRTUALS,
    preserving_leaf: preserve::LEAF,
    interpret: stub::INTERPRET,
    resume: stub::RESUME,
};

/// Runs the functions that a step has entered for a frame of machine code, until that frame is on
/// top again.
unsafe fn settle(st: *mut State, step: Step) -> u64 {
    let r = match step {
        Ok(()) if Frame((*st).base).word().is_machine() => Err(Exit::Done),
        Ok(()) | Err(Exit::Switch) => execute::execute(st),
        Err(Exit::Error) => execute::after_error(st),
        e => e,
    };
    match r {
        Err(Exit::Done) => {
            let bits = (*st).poll.load(Ordering::Relaxed);
            if bits & poll::LEAVE != 0 {
                Frames::flag_machine_code(st);
            }
            let hooked = bits & poll::HOOK != 0;
            if hooked || Frame((*st).base).link().flags() & flags::LEAVE != 0 {
                return deoptimize(st);
            }
            status::OK
        }
        Err(Exit::Error) => status::ERROR,
        Err(Exit::Yield) => status::YIELD,
        Err(Exit::Switch | Exit::Stepped) | Ok(()) => unreachable!("the loop ends with a result"),
    }
}

/// Deoptimizes the frame on top: the interpreter continues it at its pc. From here on, its code
/// only returns from the native stack, so the native stack contains no return address into the code
/// once an announcement does not list it.
#[cold]
unsafe fn deoptimize(st: *mut State) -> u64 {
    let frame = Frame((*st).base);
    frame.set_word(FrameWord::new(FrameWord::INTERPRETER, frame.word().pc()));
    frame.clear_flags(flags::LEAVE);
    status::RESUME
}

/// Returns whether the frame on top runs retired code, which cannot be freed while the frame runs
/// it.
#[cold]
unsafe fn is_retired(st: *mut State) -> bool {
    let code = Frame((*st).base).word().code();
    (*st).tier.as_mut().is_some_and(|tier| tier.is_retired(code))
}

/// Runs the work of a function that machine code calls in the middle of a frame, whose base and
/// frame word are stored first. Returns the base of the frame afterwards.
///
/// # Safety
/// I2; `base` and `word` are those of the running frame.
#[inline(always)]
unsafe fn stepped(
    st: *mut State,
    base: *mut Value,
    word: u64,
    work: impl FnOnce() -> u64,
) -> Stepped {
    Frame(base).set_word(FrameWord(word));
    (*st).base = base;
    let status = guarded(st, work);
    Stepped { status, base: (*st).base }
}

pub(super) unsafe extern "C" fn one(st: *mut State, base: *mut Value, word: u64) -> Stepped {
    stepped(st, base, word, || do_one_or_member(st))
}

#[inline(always)]
unsafe fn do_one_or_member(st: *mut State) -> u64 {
    match userdata::get_field(st) {
        (Member::Value(_), _) => {
            miss::count_any(st);
            status::OK
        }
        (Member::Computed(getter), object) => settle(st, call_meta1(st, getter, object)),
        (Member::Unknown, _) => do_one(st),
    }
}

/// Returns the instruction of the top frame before its pc, and its field cache.
#[inline(always)]
unsafe fn field_access(st: *mut State) -> (Instr, *mut FieldCache, *mut Instance) {
    let frame = Frame((*st).base);
    let inst = (*frame.callee().as_function()).instance;
    let at = frame.word().pc() as usize - 1;
    (*(*inst).code.add(at), (*inst).fields.add(*(*inst).cells.add(at) as usize), inst)
}

pub(super) unsafe extern "C" fn get_field(st: *mut State, base: *mut Value, word: u64) -> Stepped {
    stepped(st, base, word, || {
        let (i, cache, _) = field_access(st);
        let object = base.add(i.b()).get();
        if object.tag() == Tag::TABLE
            && let Some(v) = FieldCache::hit_get(st, cache, object.as_table())
        {
            miss::count_any(st);
            if i.op() == Op::SelfK {
                base.add(i.a() + 2).put(object);
            }
            base.add(i.a()).put(v);
            return status::OK;
        }
        do_one_or_member(st)
    })
}

pub(super) unsafe extern "C" fn set_field(st: *mut State, base: *mut Value, word: u64) -> Stepped {
    stepped(st, base, word, || {
        let (i, cache, inst) = field_access(st);
        let object = base.add(i.a()).get();
        if object.tag() == Tag::TABLE {
            let v = match i.op() {
                Op::SetFieldK => (*inst).constants.cast_mut().add(i.c()).get(),
                _ => base.add(i.c()).get(),
            };
            if FieldCache::hit_set(st, cache, object.as_table(), v) {
                miss::count_any(st);
                return status::OK;
            }
        }
        do_one(st)
    })
}

#[inline(always)]
unsafe fn do_one(st: *mut State) -> u64 {
    miss::count(st);
    let r = run::one(st);
    settle(st, if r == Exit::Done { Ok(()) } else { Err(r) })
}

unsafe extern "C" fn deoptimize_after(st: *mut State) -> u64 {
    guarded(st, || do_deoptimize_after(st))
}

#[inline(always)]
unsafe fn do_deoptimize_after(st: *mut State) -> u64 {
    match do_one(st) {
        status::OK => {
            miss::count_deoptimization(st);
            deoptimize(st)
        }
        other => other,
    }
}

unsafe extern "C" fn deoptimize_before(st: *mut State) -> u64 {
    guarded(st, || {
        miss::count_deoptimization(st);
        deoptimize(st)
    })
}

unsafe extern "C" fn deoptimize_virtual(st: *mut State) -> u64 {
    guarded(st, || {
        if virtuals::allocate_described(st).is_err() {
            return settle(st, Err(Exit::Error));
        }
        miss::count_deoptimization(st);
        deoptimize(st)
    })
}

/// Allocates the virtual tables that code has described.
#[cfg(handlers)]
pub(super) unsafe extern "C" fn allocate_virtuals(
    st: *mut State,
    base: *mut Value,
    word: u64,
) -> Stepped {
    stepped(st, base, word, || match virtuals::allocate_described(st) {
        Ok(()) => status::OK,
        Err(_) => settle(st, Err(Exit::Error)),
    })
}

unsafe extern "C" fn deoptimize_loop(st: *mut State) -> u64 {
    guarded(st, || do_deoptimize_loop(st))
}

#[inline(always)]
unsafe fn do_deoptimize_loop(st: *mut State) -> u64 {
    let frame = Frame((*st).base);
    let inst = (*frame.callee().as_function()).instance;
    let at = frame.word().pc() as usize - 1;
    let index = frame.0.add((*(*inst).code.add(at)).a()).get();
    *(*inst).cells.add(at) |= if index.is_int() { seen::INT } else { seen::FLOAT };
    miss::count_deoptimization(st);
    deoptimize(st)
}

unsafe extern "C" fn poll_word(
    st: *mut State,
    base: *mut Value,
    word: u64,
    top: *mut Value,
) -> Stepped {
    stepped(st, base, word, || do_poll(st, top))
}

#[inline(always)]
unsafe fn do_poll(st: *mut State, top: *mut Value) -> u64 {
    let announces = (*st).poll.load(Ordering::Relaxed) & poll::QUIESCENCE != 0;
    match safepoint(st, top, false) {
        Ok(()) if announces && is_retired(st) => deoptimize(st),
        Ok(()) => settle(st, Ok(())),
        Err(Exit::Switch) => deoptimize(st),
        e => settle(st, e),
    }
}

/// Polls in a loop, where all registers of the frame are live.
#[cfg(handlers)]
pub(super) unsafe extern "C" fn poll_in_loop(
    st: *mut State,
    base: *mut Value,
    word: u64,
) -> Stepped {
    stepped(st, base, word, || {
        let inst = (*Frame(base).callee().as_function()).instance;
        do_poll(st, base.add((*inst).max_stack as usize))
    })
}

/// Polls in a loop that reuses values loaded from memory: deoptimizes the frame if memory may have
/// changed. Marking, sweeping and announcements change nothing that code loads.
#[cfg(handlers)]
pub(super) unsafe extern "C" fn quiet_poll(st: *mut State, base: *mut Value, word: u64) -> Stepped {
    quietly(st, base, || poll_in_loop(st, base, word))
}

/// As [`quiet_poll`], where the values of the frame end at the address that the code has stored in
/// the state.
#[cfg(handlers)]
pub(super) unsafe extern "C" fn quiet_poll_to(
    st: *mut State,
    base: *mut Value,
    word: u64,
) -> Stepped {
    let top: *mut Value = std::ptr::with_exposed_provenance_mut((*st).returned.bits as usize);
    quietly(st, base, || stepped(st, base, word, || do_poll(st, top)))
}

/// Polls, and deoptimizes the frame if memory may have changed.
#[cfg(handlers)]
#[inline(always)]
unsafe fn quietly(st: *mut State, base: *mut Value, work: impl FnOnce() -> Stepped) -> Stepped {
    let bits = (*st).poll.load(Ordering::Relaxed);
    let changes = (*st).collector_changes();
    let mut stepped = work();
    let is_quiet = bits & !(poll::GC | poll::QUIESCENCE) == 0
        && (*st).collector_changes() == changes
        && stepped.base == base;
    if stepped.status == status::OK && !is_quiet {
        stepped.status = deoptimize(st);
    }
    stepped
}

/// Executes an iteration of a loop over `next` or `ipairs`, which the code has specified in the
/// state.
#[cfg(handlers)]
pub(super) unsafe extern "C" fn for_next_of_state(st: *mut State) -> u64 {
    let Returned { bits, tag } = (*st).returned;
    leaf::for_next(st, std::ptr::with_exposed_provenance_mut(bits as usize), tag as usize)
}

/// Allocates the table of the NEWTABLE that the frame executes, with the number of fields that the
/// code has stored in the state.
#[cfg(handlers)]
pub(super) unsafe extern "C" fn new_table_of_frame(
    st: *mut State,
    base: *mut Value,
    word: u64,
) -> *mut Table {
    let inst = (*Frame(base).callee().as_function()).instance;
    let fields = (*st).returned.bits as usize;
    leaf::new_table(st, inst, FrameWord(word).pc() as usize - 1, fields)
}

unsafe fn is_polled(st: *mut State) -> bool {
    (*st).poll.load(Ordering::Relaxed) != 0
}

unsafe extern "C" fn call(
    st: *mut State,
    base: *mut Value,
    word: u64,
    callee: *mut Value,
    nargs: usize,
) -> Stepped {
    stepped(st, base, word, || do_call(st, callee, nargs))
}

#[inline(always)]
unsafe fn do_call(st: *mut State, callee: *mut Value, nargs: usize) -> u64 {
    let s = StateRef::new(st);
    let base = s.base;
    let inst = (*Frame(base).callee().as_function()).instance;
    let i = *(*inst).code.add(Frame(base).word().pc() as usize - 1);
    let first = callee.offset_from(base) as u8;
    let results = CallResults { first, wanted: i.c() as u8 };
    let r = call_for_machine(st, callee, nargs, Some(results));
    poll_after(st, r)
}

/// Calls the value at `callee`. `results` is the number of results of a CALL, or `None` for all
/// results of a TAILCALL.
#[inline(always)]
unsafe fn call_for_machine(
    st: *mut State,
    callee: *mut Value,
    nargs: usize,
    results: Option<CallResults>,
) -> u64 {
    let c = results.map_or(0, |results| usize::from(results.wanted));
    let mut s = StateRef::new(st);
    let f = callee.get();
    let new_base = callee.add(2);
    let simple = f.tag() == Tag::NATIVE
        && s.poll.load(Ordering::Relaxed) & poll::HOOK == 0
        && s.limit.offset_from(new_base) >= nargs as isize;
    if !simple {
        return settle(st, call_other(st, callee, nargs, c));
    }
    let distance = new_base.offset_from(s.base) as usize;
    let frame = Frame(new_base);
    frame.set_word(FrameWord::new(FrameWord::NATIVE, 0));
    frame.set_link(Link::new(0, 0, distance));
    s.base = new_base;
    s.top = new_base.add(nargs);
    match call_function(st, f.as_native(), results) {
        Ok(Ret(n)) if n >= -1 && s.poll.load(Ordering::Relaxed) & poll::HOOK == 0 => {
            let base = s.base.sub(distance);
            let ra = s.base.sub(2);
            let count = if n < 0 {
                1
            } else {
                let n = n as usize;
                move_values(s.top.sub(n), ra, if c == 0 { n } else { n.min(c - 1) });
                n
            };
            s.base = base;
            if c == 0 {
                s.top = ra.add(count);
            } else {
                for j in count..c - 1 {
                    ra.add(j).put(Value::NIL);
                }
            }
            status::OK
        }
        // it switched a hook on
        Ok(Ret(n)) if n >= -1 => settle(st, native_returned(st, n, f).map(|_| ())),
        Ok(r) => settle(st, after_native(st, r)),
        Err(_) => settle(st, Err(Exit::Error)),
    }
}

/// As [`call_for_machine`], for a value that is not a native function (usually one with a `__call`
/// metamethod that has machine code), or for a call about which a hook must be notified.
unsafe fn call_other(st: *mut State, mut callee: *mut Value, mut nargs: usize, c: usize) -> Step {
    while !is_function(callee.get()) {
        (callee, nargs) = become_metamethod(st, callee, nargs)?;
    }
    match code_of(st, callee) {
        Some(entry) => run_to_lua(st, call_code(st, callee, entry, nargs, c)),
        None => call_for_instruction(st, callee, nargs),
    }
}

unsafe extern "C" fn end_protected(
    st: *mut State,
    base: *mut Value,
    word: u64,
    callee_base: *mut Value,
    status: u64,
    bits: u64,
    tag: u64,
) -> Stepped {
    stepped(st, base, word, || {
        let link = Link::new(flags::CONTINUED, 0, Frame::PROTECTED_CALLEE);
        let at = callee_base.offset_from((*(*st).thread).stack);
        let left = Left { status, base: callee_base };
        let entered = left_code(st, left, &Returned { bits, tag }, link, at);
        let r = settle(st, run_to_lua(st, entered));
        poll_after(st, r)
    })
}

/// Polls after a CALL for machine code that has ended with this status.
unsafe fn poll_after(st: *mut State, r: u64) -> u64 {
    if r != status::OK || !is_polled(st) {
        return r;
    }
    let frame = Frame((*st).base);
    let inst = (*frame.callee().as_function()).instance;
    let i = *(*inst).code.add(frame.word().pc() as usize - 1);
    let end = frame.0.add((*inst).max_stack as usize);
    do_poll(st, if i.c() == 0 { end.max((*st).top) } else { end })
}

unsafe extern "C" fn call_iterator(
    st: *mut State,
    base: *mut Value,
    word: u64,
    a: usize,
    want: usize,
    is_noted: bool,
) -> Stepped {
    stepped(st, base, word, || do_call_iterator(st, a, want, is_noted))
}

#[inline(always)]
unsafe fn do_call_iterator(st: *mut State, a: usize, want: usize, is_noted: bool) -> u64 {
    if !is_noted {
        for_loop::note_iterator((*st).base, a);
    }
    let r = settle(st, for_loop::call_iterator_at(st, a, want));
    if r != status::OK || !is_polled(st) {
        return r;
    }
    let inst = (*Frame((*st).base).callee().as_function()).instance;
    do_poll(st, (*st).base.add((*inst).max_stack as usize))
}

unsafe extern "C" fn tail_call(
    st: *mut State,
    base: *mut Value,
    word: u64,
    callee: *mut Value,
    nargs: usize,
    close: bool,
) -> Stepped {
    stepped(st, base, word, || do_tail_call(st, callee, nargs, close))
}

#[inline(always)]
unsafe fn do_tail_call(st: *mut State, callee: *mut Value, nargs: usize, close: bool) -> u64 {
    let mut s = StateRef::new(st);
    let mut callee = callee;
    if is_polled(st) {
        let at = callee.offset_from(s.base);
        // if the frame is deoptimized here, the call is still to be executed
        let word = Frame(s.base).word();
        Frame(s.base).set_word(word.at(word.pc() - 1));
        let r = do_poll(st, callee.add(2 + nargs));
        if r != status::OK {
            return r;
        }
        Frame(s.base).set_word(word);
        callee = s.base.offset(at);
    }
    match tail_callee(st, callee, nargs, close) {
        Ok(TailCallee::Native(callee, nargs)) => tail_call_native(st, callee, nargs),
        Ok(TailCallee::Lua { callee, nargs, link }) => {
            let frame = Frame(callee.add(Frame::RESERVED));
            frame.set_word(FrameWord::new(FrameWord::INTERPRETER, 0));
            frame.set_link(link);
            s.base = frame.0;
            (nargs as u64 + 1) << 32
        }
        Err(e) => settle(st, Err(e)),
    }
}

/// Executes TAILCALL of a native function, which is called in place.
unsafe fn tail_call_native(st: *mut State, callee: *mut Value, nargs: usize) -> u64 {
    let number = (*callee.get().as_native()).header.word as usize;
    if (*st).poll.load(Ordering::Relaxed) & poll::HOOK == 0
        && let Some(v) = builtin::only_result(st, number, callee.add(2), nargs)
    {
        callee.put(v);
        (*st).top = callee.add(1);
        return status::OK;
    }
    if panics::is_pending(st) {
        return status::PANIC;
    }
    call_for_machine(st, callee, nargs, None)
}

unsafe extern "C" fn close_return(
    st: *mut State,
    base: *mut Value,
    word: u64,
    results: *mut Value,
    n: usize,
) -> Stepped {
    stepped(st, base, word, || do_close_return(st, results, n))
}

#[inline(always)]
unsafe fn do_close_return(st: *mut State, results: *mut Value, n: usize) -> u64 {
    let mut results = results;
    let word = Frame((*st).base).word();
    loop {
        let at = results.offset_from((*st).base);
        match close_for_return(st, results, n) {
            Ok(false) => return status::OK,
            Ok(true) => {
                let r = settle(st, Ok(()));
                if r != status::OK {
                    return r;
                }
                // the return of a closing method has set the pc back to RETURN
                Frame((*st).base).set_word(word);
                results = (*st).base.offset(at);
            }
            Err(e) => return settle(st, Err(e)),
        }
    }
}
