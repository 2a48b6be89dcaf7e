//! The loop: fetches and executes instructions of Lua frames.
//!
//! While it runs, the frame's base, code, pc and constants live in local variables; `State::base` always equals `base`. Everything
//! off the hot paths is a step (see [`crate::step`]): the pc is stored in the frame word, the step runs, and the locals are loaded anew from
//! whatever frame is then on top.
//!
//! This file is longer than others because it is one `match` over the instruction set.

use std::sync::atomic::Ordering;

use perilune_bytecode::feedback::{access, operands as seen};
use perilune_bytecode::{Instr, Op};
use perilune_runtime::arith::{float_mod, int_floor_div, int_mod, pow, shift_left};
use perilune_runtime::closure::{LuaClosure, Upvalue};
use perilune_runtime::debug;
use perilune_runtime::frame::{Frame, FrameWord, Link, flags};
use perilune_runtime::instance::{CalleeCache, FieldCache, Instance};
use perilune_runtime::meta::Event;
use perilune_runtime::native::{Builtin, Cx, Ret};
use perilune_runtime::state::{State, StateRef, poll};
use perilune_runtime::string::LuaString;
use perilune_runtime::table::{ArrayKind, Table};
use perilune_runtime::thread::Thread;
use perilune_runtime::value::{SlotExt, Tag, Value};

use crate::call::{
    Entered, IntoExit, become_metamethod, call_for_instruction, enter, enter_continued, run_native,
};
use crate::operators::{self, Order};
use crate::poll::safepoint;
use crate::step::{Exit, Step, raised};
use crate::{concat, error, for_loop, hooks, index, machine, ret};

/// Returns the feedback of an access to integer key `n` of a table.
///
/// # Safety
/// `t` is a live table.
#[inline(always)]
unsafe fn access_of_int(t: *mut Table, n: i64) -> u32 {
    if (n as u64).wrapping_sub(1) < (*t).array_len as u64 {
        access::ARRAY | access::INTS << ((*t).header.aux - ArrayKind::Int as u8)
    } else {
        access::ARRAY | access::OUTSIDE
    }
}

// The bits for kinds of arrays are in the order of the kinds.
const _: () = {
    let int = ArrayKind::Int as u8;
    assert!(access::INTS << (ArrayKind::Float as u8 - int) == access::FLOATS);
    assert!(access::INTS << (ArrayKind::Any as u8 - int) == access::ANY);
};

/// Where the feedback cells of a frame's instructions are, relative to the instructions.
#[derive(Clone, Copy)]
struct Cells {
    base: *mut u32,
    distance: usize,
}

impl Cells {
    /// Those of `inst`.
    #[inline(always)]
    unsafe fn of(inst: *mut Instance) -> Cells {
        let base = (*inst).cells;
        Cells { base, distance: base.addr().wrapping_sub((*inst).code.addr()) }
    }

    /// The cell of the instruction at `ip`.
    #[inline(always)]
    fn at(self, ip: *const Instr) -> *mut u32 {
        self.base.with_addr(ip.addr().wrapping_add(self.distance))
    }
}

/// Runs the Lua frame on top, and what it calls, until the frame entered from the host returns, an error leaves it, or the
/// coroutine yields.
///
/// # Safety
/// I1, I2.
pub(crate) unsafe fn execute(st: *mut State) -> Step {
    loop {
        let hooked = (*st).poll.load(Ordering::Relaxed) & poll::HOOK != 0;
        let exit = if hooked {
            run::<HOOKED>(st)
        } else if (*st).counts {
            run::<COUNTED>(st)
        } else {
            run::<PLAIN>(st)
        };
        match exit {
            Exit::Switch => {}
            Exit::Error => error::unwind(st)?,
            e => return Err(e),
        }
    }
}

/// Goes on after an error that was raised before the loop ran.
///
/// # Safety
/// I2; the error is in `State::error`.
pub(crate) unsafe fn after_error(st: *mut State) -> Step {
    error::unwind(st)?;
    execute(st)
}

/// Leaves the top frame with `n` results at `src`, the slow way.
#[inline(never)]
unsafe fn return_slow(st: *mut State, src: *mut Value, n: usize) -> Step {
    if (*st).poll.load(Ordering::Relaxed) & poll::HOOK != 0 {
        // the hook may move the stack
        let at = src.offset_from((*(*st).thread).stack);
        hooks::return_event(st, src, n)?;
        let src = (*(*st).thread).stack.offset(at);
        return finish_return(st, src, n);
    }
    finish_return(st, src, n)
}

unsafe fn finish_return(st: *mut State, src: *mut Value, n: usize) -> Step {
    match ret::leave(st, src, n)? {
        Entered::Lua => Ok(()),
        Entered::Native => run_native(st),
    }
}

/// CLOSE and RETURN with variables to close: calls `__close` of the innermost, or says that none is left.
#[inline(never)]
unsafe fn close_variable(
    st: *mut State,
    level: *mut Value,
    results_end: *mut Value,
) -> Result<bool, Exit> {
    let mut s = StateRef::new(st);
    let th = s.thread;
    let level = level.offset_from((*th).stack) as u32;
    while let Some(&slot) = (&(*th).to_close).last() {
        if slot < level {
            break;
        }
        (&mut (*th).to_close).pop();
        let v = (*th).stack.add(slot as usize).get();
        if !v.truthy() {
            continue;
        }
        let h = Table::metamethod(s.ptr(), v, Event::Close);
        let inst = (*Frame(s.base).callee().as_function()).instance;
        s.top = s.base.add((*inst).max_stack as usize).max(results_end);
        raised(State::reserve(st, 8))?;
        let callee = s.top;
        callee.put(h);
        callee.add(1).put(Value::NIL);
        callee.add(2).put(v);
        callee.add(3).put(Value::NIL);
        call_for_instruction(st, callee, 2)?;
        return Ok(true);
    }
    Ok(false)
}

/// RETURN that may have upvalues or variables to close. `Ok(true)`: a `__close` was called, the instruction runs again.
#[inline(never)]
pub(crate) unsafe fn close_for_return(
    st: *mut State,
    src: *mut Value,
    n: usize,
) -> Result<bool, Exit> {
    let mut s = StateRef::new(st);
    let base = s.base;
    s.close_upvalues(base);
    let offset = base.offset_from((*s.thread).stack) as u32;
    let returning = &mut (*s.thread).returning;
    if (&(*s.thread).to_close).last().is_none_or(|&slot| slot < offset) {
        if returning.last().is_some_and(|r| r.0 == offset) {
            returning.pop();
        }
        return Ok(false);
    }
    if returning.last().is_none_or(|r| r.0 != offset) {
        if returning.try_reserve(1).is_err() {
            return Err(crate::room::error(st));
        }
        returning.push((offset, n as u32));
    }
    let called = close_variable(st, base, src.add(n))?;
    if !called {
        (&mut (*s.thread).returning).pop();
    }
    Ok(called)
}

/// TAILCALL: replaces the top frame by that of the callee; a native callee is called in the ordinary way, and the RETURN that
/// follows returns its results.
#[inline(never)]
unsafe fn tail_call(st: *mut State, mut ra: *mut Value, mut nargs: usize, close: bool) -> Step {
    let mut s = StateRef::new(st);
    if close {
        let base = s.base;
        s.close_upvalues(base);
    }
    let mut tries = 0;
    while ra.get().tag() != Tag::FUNCTION {
        if ra.get().tag() == Tag::NATIVE {
            return call_for_instruction(st, ra, nargs);
        }
        ra = become_metamethod(st, ra, nargs, &mut tries)?;
        nargs += 1;
    }
    let base = s.base;
    let link = Frame(base).link();
    let dst = ret::callee_slot(base);
    dst.put(ra.get());
    ret::move_values(ra.add(2), dst.add(2), nargs);
    s.base = if link.distance() == 0 { (*s.thread).stack } else { base.sub(link.distance()) };
    let keep = link.flags() & (flags::BOUNDARY | flags::CONTINUED | flags::NATIVE_CALLER);
    match enter(st, dst, nargs, keep | flags::TAIL)? {
        Entered::Lua => Ok(()),
        // machine code has run the callee, for a native function
        Entered::Native => run_native(st),
    }
}

/// CALL of a Lua function that is not the simple case.
#[inline(never)]
unsafe fn call_slow(st: *mut State, ra: *mut Value, nargs: usize) -> Step {
    call_for_instruction(st, ra, nargs)
}

/// What a native function asked for other than returning.
#[inline(never)]
pub(crate) unsafe fn after_native(st: *mut State, r: Ret) -> Step {
    if r != Ret::CALL {
        return Err(Exit::Yield);
    }
    match enter_continued(st)? {
        Entered::Lua => Ok(()),
        Entered::Native => run_native(st),
    }
}

/// VARARG of all extra arguments that needs more stack.
#[cold]
unsafe fn grow_for_varargs(st: *mut State, ra: *mut Value, n: usize) -> Step {
    (*st).top = ra;
    raised(Thread::grow(st, n))
}

/// CALLMETA: `setmetatable(o, {__index = i})`.
#[inline(never)]
unsafe fn call_meta(st: *mut State, ra: *mut Value) -> Step {
    let s = StateRef::new(st);
    let t = Table::new(s.ptr(), 1, 0);
    Table::set_str_const(s.ptr(), t, s.event_names[Event::Index as usize], ra.add(3).get());
    ra.add(3).put(Value::table(t));
    call_for_instruction(st, ra, 2)
}

/// CLOSURE: a closure of inner function `n`, over variables of the frame at `base`.
#[inline(never)]
pub(crate) unsafe fn make_closure(
    st: *mut State,
    inst: *mut Instance,
    n: usize,
    base: *mut Value,
) -> Value {
    let mut s = StateRef::new(st);
    let child = Instance::child(&mut s, inst, n);
    let proto = &(*child).proto;
    let count = proto.upvalues.len();
    let outer = Frame(base).callee().as_function();
    let c = s.new_closure(child, count);
    for (i, d) in proto.upvalues.iter().enumerate() {
        let up = if d.in_stack {
            s.find_upvalue(base.add(d.index as usize))
        } else {
            *LuaClosure::upvalue(outer, d.index as usize)
        };
        *LuaClosure::upvalue(c, i) = up;
    }
    Value::function(c)
}

/// Remembers another callee at a call site.
#[cold]
#[inline(never)]
unsafe fn note_callee(inst: *mut Instance, cell: usize, callee: usize) {
    let c = &mut *(*inst).callees.add(cell);
    if c.callee == 0 {
        c.callee = callee;
    } else {
        c.others = c.others.saturating_add(1);
    }
}

/// Results for a frame of machine code.
#[inline(never)]
unsafe fn returned_to_machine(st: *mut State, src: *mut Value, n: usize) -> Exit {
    match ret::deliver(st, src, n) {
        Ok(()) => Exit::Done,
        Err(e) => e,
    }
}

/// A loop went round often: goes on in machine code, if there is some.
#[cold]
#[inline(never)]
unsafe fn hot_loop(st: *mut State) -> Step {
    let frame = Frame((*st).base);
    let inst = (*frame.callee().as_function()).instance;
    let pc = frame.word().pc();
    let Some(entry) = machine::with_tier(st, |tier| tier.hot_loop(st, inst, pc)) else {
        return Ok(());
    };
    if entry.is_null() || !machine::has_room(st) {
        return Ok(());
    }
    match machine::enter_loop(st, entry)? {
        Entered::Lua => Ok(()),
        Entered::Native => run_native(st),
    }
}

/// Runs the instruction of a frame of machine code that its pc names. [`Exit::Done`]: it is done, and so says the pc;
/// or another frame is on top.
///
/// # Safety
/// I1, I2. It is no call or return.
pub(crate) unsafe fn one(st: *mut State) -> Exit {
    run::<ONE>(st)
}

/// The loop.
const PLAIN: u8 = 0;
/// The loop that calls hooks.
const HOOKED: u8 = 1;
/// The loop of states whose instructions are counted.
const COUNTED: u8 = 3;
/// One instruction for machine code.
const ONE: u8 = 2;

#[allow(clippy::cognitive_complexity)]
unsafe fn run<const MODE: u8>(st: *mut State) -> Exit {
    let mut base: *mut Value;
    let mut inst: *mut Instance;
    let mut k: *mut Value;
    // the next instruction, and how far from its instruction a feedback cell lies: the two arrays run in step
    let mut ip: *const Instr;
    let mut cells: Cells;
    // of the frame that runs: not the interpreter's only while it runs one instruction of another
    let code = if MODE == ONE { Frame((*st).base).word().code() } else { FrameWord::INTERPRETER };

    macro_rules! load_code {
        ($word:expr) => {
            inst = (*Frame(base).callee().as_function()).instance;
            k = (*inst).constants.cast_mut();
            cells = Cells::of(inst);
            ip = (*inst).code.add($word.pc() as usize);
        };
    }
    macro_rules! load_frame {
        () => {
            let word = Frame(base).word();
            if word.is_machine() {
                // native code waits for this frame
                return Exit::Done;
            }
            load_code!(word);
        };
    }
    macro_rules! reload {
        () => {
            base = (*st).base;
            load_frame!();
        };
    }
    macro_rules! save_pc {
        () => {
            Frame(base).set_word(FrameWord::new(code, ip.offset_from((*inst).code) as u32))
        };
    }
    // Runs a step, then goes on from the frame that is on top.
    macro_rules! step {
        ($e:expr) => {{
            save_pc!();
            match $e {
                // the instruction is done, or waits for a frame on top
                Ok(()) if MODE == ONE => return Exit::Done,
                Ok(()) => {
                    reload!();
                    changed!();
                }
                Err(e) => return e,
            }
        }};
    }
    // What was called may have used up the instructions, or, in machine code, set a hook.
    macro_rules! changed {
        () => {
            if MODE != ONE {
                let bits = (*st).poll.load(Ordering::Relaxed);
                if (MODE == COUNTED || MODE == HOOKED) && bits & poll::OUT_OF_FUEL != 0 {
                    match safepoint(st, frame_end!(), MODE == HOOKED) {
                        Ok(()) => unreachable!("the script stops"),
                        Err(e) => return e,
                    }
                }
                if MODE != HOOKED && bits & poll::HOOK != 0 {
                    return Exit::Switch;
                }
            }
        };
    }
    macro_rules! polled {
        () => {
            if MODE == HOOKED {
                (*st).poll.load(Ordering::Relaxed) != poll::HOOK
            } else if MODE == ONE {
                // machine code polls
                false
            } else {
                (*st).poll.load(Ordering::Relaxed) != 0
            }
        };
    }
    macro_rules! poll {
        ($top:expr) => {
            if polled!() {
                let top = $top;
                step!(safepoint(st, top, MODE == HOOKED));
            }
        };
    }
    macro_rules! note {
        ($bits:expr) => {
            *cells.at(ip.sub(1)) |= $bits
        };
    }
    macro_rules! frame_end {
        () => {
            base.add((*inst).max_stack as usize)
        };
    }
    // A loop goes round: counts it in the cell of its last instruction, at `$last`, and goes on at `$target`.
    macro_rules! go_round {
        ($last:expr, $target:expr) => {{
            let c = cells.at($last);
            *c = (*c).wrapping_add(1);
            let count = *c;
            let cost = $last.offset_from($target) as u64 + 1;
            ip = $target;
            if (MODE == COUNTED || MODE == HOOKED && (*st).counts) && !(*st).spend(cost) {
                save_pc!();
                changed!();
            }
            if MODE != HOOKED && MODE != ONE && (*st).loop_threshold.is_reached(count) {
                step!(hot_loop(st));
            }
            poll!(frame_end!());
        }};
    }
    // The JMP that `ip` is at is taken. Machine code takes it itself, or the interpreter does once
    // the frame was deoptimized: so a loop's round is charged and polled in one place.
    macro_rules! take_jump {
        () => {{
            let distance = (*ip).sj_value();
            if MODE == ONE {
                // the pc says that the jump is to be taken
            } else if distance < 0 {
                go_round!(ip, ip.offset(distance + 1));
            } else {
                ip = ip.offset(distance + 1);
            }
        }};
    }
    macro_rules! test {
        ($cond:expr, $i:expr) => {
            if ($cond) != ($i.c() & 1 != 0) {
                ip = ip.add(1);
            } else {
                take_jump!();
            }
        };
    }

    if MODE == ONE {
        base = (*st).base;
        load_code!(Frame(base).word());
        // the pc is that of the next instruction, as for every call out of machine code
        ip = ip.sub(1);
    } else {
        reload!();
        changed!();
    }
    let mut first = true;
    loop {
        if MODE == ONE {
            if !first {
                save_pc!();
                return Exit::Done;
            }
            first = false;
        }
        let i = *ip;
        ip = ip.add(1);
        if MODE == HOOKED {
            save_pc!();
            if let Err(e) = hooks::instruction_event(st, ip.offset_from((*inst).code) as u32 - 1) {
                return e;
            }
            // it may have moved the stack
            base = (*st).base;
            if (*st).poll.load(Ordering::Relaxed) & poll::HOOK == 0 {
                // the hook was removed: run this instruction in the other loop
                ip = ip.sub(1);
                save_pc!();
                return Exit::Switch;
            }
        }

        macro_rules! ra {
            () => {
                base.add(i.a())
            };
        }
        macro_rules! rb {
            () => {
                base.add(i.b())
            };
        }
        macro_rules! rc {
            () => {
                base.add(i.c())
            };
        }
        // R[A] := b op c with an integer and a float version.
        macro_rules! arith {
            ($b:expr, $c:expr, $event:expr, |$x:ident, $y:ident| $int:expr, |$fx:ident, $fy:ident| $float:expr) => {{
                let (b, c): (Value, Value) = ($b, $c);
                if b.is_int() && c.is_int() {
                    note!(seen::INT);
                    let ($x, $y) = (b.as_int(), c.as_int());
                    ra!().put(Value::int($int));
                } else if b.is_float() && c.is_float() {
                    note!(seen::FLOAT);
                    let ($fx, $fy) = (b.as_float(), c.as_float());
                    ra!().put(Value::float($float));
                } else if b.is_float() && c.is_int() {
                    note!(seen::MIXED);
                    let ($fx, $fy) = (b.as_float(), c.as_int() as f64);
                    ra!().put(Value::float($float));
                } else if b.is_int() && c.is_float() {
                    note!(seen::MIXED);
                    let ($fx, $fy) = (b.as_int() as f64, c.as_float());
                    ra!().put(Value::float($float));
                } else {
                    step!(operators::arith_slow(st, i, $event, b, c));
                }
            }};
        }
        // As arith!, for division and modulo of integers, whose divisor may be 0.
        macro_rules! divide {
            ($b:expr, $c:expr, $event:expr, $int:expr, $float:expr) => {{
                let (b, c): (Value, Value) = ($b, $c);
                if b.is_int() && c.is_int() && c.as_int() != 0 {
                    note!(seen::INT);
                    ra!().put(Value::int($int(b.as_int(), c.as_int())));
                } else if b.is_float() && c.is_float() {
                    note!(seen::FLOAT);
                    ra!().put(Value::float($float(b.as_float(), c.as_float())));
                } else {
                    step!(operators::arith_slow(st, i, $event, b, c));
                }
            }};
        }
        // R[A] := b op c, always a float.
        macro_rules! float_arith {
            ($b:expr, $c:expr, $event:expr, |$x:ident, $y:ident| $float:expr) => {{
                let (b, c): (Value, Value) = ($b, $c);
                if b.is_number() && c.is_number() {
                    note!(if b.is_float() && c.is_float() { seen::FLOAT } else { seen::MIXED });
                    let $x = if b.is_float() { b.as_float() } else { b.as_int() as f64 };
                    let $y = if c.is_float() { c.as_float() } else { c.as_int() as f64 };
                    ra!().put(Value::float($float));
                } else {
                    step!(operators::arith_slow(st, i, $event, b, c));
                }
            }};
        }
        macro_rules! bitwise {
            ($b:expr, $c:expr, $event:expr, |$x:ident, $y:ident| $int:expr) => {{
                let (b, c): (Value, Value) = ($b, $c);
                if b.is_int() && c.is_int() {
                    note!(seen::INT);
                    let ($x, $y) = (b.as_int(), c.as_int());
                    ra!().put(Value::int($int));
                } else {
                    step!(operators::arith_slow(st, i, $event, b, c));
                }
            }};
        }
        macro_rules! order {
            ($a:expr, $b:expr, $order:expr, $op:tt) => {{
                let (a, b): (Value, Value) = ($a, $b);
                if a.is_int() && b.is_int() {
                    note!(seen::INT);
                    test!(a.as_int() $op b.as_int(), i);
                } else if a.is_float() && b.is_float() {
                    note!(seen::FLOAT);
                    test!(a.as_float() $op b.as_float(), i);
                } else {
                    step!(operators::order_slow(st, i, $order, a, b));
                }
            }};
        }
        // Comparison with the immediate in B, on the right side of `op`; swapped for `>` and `>=`.
        macro_rules! order_immediate {
            ($op:tt, $slow:expr) => {{
                let a = ra!().get();
                if a.is_int() {
                    note!(seen::INT);
                    test!(a.as_int() $op i.sb(), i);
                } else if a.is_float() {
                    note!(seen::FLOAT);
                    test!(a.as_float() $op i.sb() as f64, i);
                } else {
                    let imm = if i.c() & 2 != 0 { Value::float(i.sb() as f64) } else { Value::int(i.sb()) };
                    let (order, swap) = $slow;
                    let (x, y) = if swap { (imm, a) } else { (a, imm) };
                    step!(operators::order_slow(st, i, order, x, y));
                }
            }};
        }
        macro_rules! upvalue {
            ($n:expr) => {
                *LuaClosure::upvalue(Frame(base).callee().as_function(), $n)
            };
        }
        macro_rules! field_cache {
            () => {
                (*inst).fields.add(*cells.at(ip.sub(1)) as usize)
            };
        }
        macro_rules! get_field {
            ($object:expr) => {{
                let object: Value = $object;
                if object.is_table()
                    && let Some(v) =
                        FieldCache::hit_get(field_cache!(), object.as_table(), (*st).meta_epoch)
                {
                    ra!().put(v);
                } else if object.is_string()
                    && let Some(v) = FieldCache::hit_method(field_cache!(), st)
                {
                    ra!().put(v);
                } else {
                    let name = k.add(i.c()).get();
                    step!(index::get_field(st, i, object, name));
                }
            }};
        }
        macro_rules! set_field {
            ($v:expr) => {{
                let object = ra!().get();
                let v: Value = $v;
                if !(object.is_table()
                    && FieldCache::hit_set(st, field_cache!(), object.as_table(), v))
                {
                    let name = k.add(i.b()).get();
                    step!(index::set_field(st, object, name, v));
                }
            }};
        }
        macro_rules! set_global {
            ($v:expr) => {{
                let env = (*upvalue!(i.a())).place.get();
                let v: Value = $v;
                let cache = (*inst).globals.add(*cells.at(ip.sub(1)) as usize);
                let cell = (*cache).cell;
                if env.is_table()
                    && env.as_table() == (*cache).env
                    && !(*cell).value.is_nil()
                    && !v.is_nil()
                {
                    (&raw mut (*cell).value).put(v);
                    if v.is_collectable() {
                        (*st).barrier(cell.cast());
                    }
                } else {
                    let name = k.add(i.b()).get();
                    step!(index::set_global(st, env, name, v));
                }
            }};
        }
        macro_rules! get_int {
            ($object:expr, $key:expr) => {{
                let (object, n): (Value, i64) = ($object, $key);
                if object.is_table() {
                    note!(access_of_int(object.as_table(), n));
                    let v = Table::get_int(object.as_table(), n);
                    if !v.is_nil() || !Table::has_meta(object.as_table()) {
                        ra!().put(v);
                        continue;
                    }
                } else {
                    note!(access::NO_TABLE);
                }
                step!(index::get(st, i.a(), object, Value::int(n)));
            }};
        }
        macro_rules! set_table {
            ($key:expr, $v:expr) => {{
                let (object, key, v): (Value, Value, Value) = (ra!().get(), $key, $v);
                if object.is_table() {
                    let t = object.as_table();
                    if key.is_int() {
                        note!(access_of_int(t, key.as_int()));
                        if !Table::has_meta(t) {
                            if Table::set_int_within(st, t, key.as_int(), v) {
                                continue;
                            }
                            step!(index::set(st, object, key, v));
                        }
                        if Table::set_existing_int(st, t, key.as_int(), v) {
                            continue;
                        }
                    } else if key.is_string() && LuaString::is_short(key.as_string()) {
                        note!(access::STRING);
                        if !Table::has_meta(t) {
                            if Table::set_short_within(st, t, key.as_string(), v) {
                                continue;
                            }
                            step!(index::set(st, object, key, v));
                        }
                        if Table::set_existing_str(st, t, key.as_string(), v) {
                            continue;
                        }
                    } else {
                        note!(access::OTHER);
                    }
                } else {
                    note!(access::NO_TABLE);
                }
                step!(index::set(st, object, key, v));
            }};
        }
        // The values of a return are at `src`: leave the frame.
        macro_rules! leave {
            ($src:expr, $n:expr) => {{
                let (src, n): (*mut Value, usize) = ($src, $n);
                let link = Frame(base).link();
                if (MODE == HOOKED) || link.flags() & flags::RETURN_SLOW != 0 {
                    step!(return_slow(st, src, n));
                } else {
                    base = base.sub(link.distance());
                    (*st).base = base;
                    let word = Frame(base).word();
                    if word.is_machine() {
                        return returned_to_machine(st, src, n);
                    }
                    load_code!(word);
                    let call = *ip.sub(1);
                    if call.op_byte() == Op::Call as u8 {
                        let dst = base.add(call.a());
                        let c = call.c();
                        if c == 0 {
                            ret::move_values(src, dst, n);
                            (*st).top = dst.add(n);
                        } else {
                            let want = c - 1;
                            for j in 0..want {
                                dst.add(j).put(if j < n { src.add(j).get() } else { Value::NIL });
                            }
                        }
                    } else {
                        step!(ret::deliver(st, src, n));
                    }
                }
            }};
        }

        // SAFETY: I1: the byte is an opcode.
        match std::mem::transmute::<u8, Op>(i.op_byte()) {
            Op::Move => ra!().put(rb!().get()),
            Op::LoadI => ra!().put(Value::int(i.sbx())),
            Op::LoadF => ra!().put(Value::float(i.sbx() as f64)),
            Op::LoadK => ra!().put(k.add(i.bx()).get()),
            Op::LoadKX => {
                let n = (*ip).ax_value();
                ip = ip.add(1);
                ra!().put(k.add(n).get());
            }
            Op::LoadFalse => ra!().put(Value::FALSE),
            Op::LFalseSkip => {
                ra!().put(Value::FALSE);
                ip = ip.add(1);
            }
            Op::LoadTrue => ra!().put(Value::TRUE),
            Op::LoadNil => {
                for j in 0..=i.b() {
                    ra!().add(j).put(Value::NIL);
                }
            }
            Op::GetUpval => ra!().put((*upvalue!(i.b())).place.get()),
            Op::SetUpval => {
                let up: *mut Upvalue = upvalue!(i.b());
                let v = ra!().get();
                (*up).place.put(v);
                if v.is_collectable() {
                    (*st).barrier(up.cast());
                }
            }
            Op::GetTabUp => {
                let env = (*upvalue!(i.b())).place.get();
                let cache = (*inst).globals.add(*cells.at(ip.sub(1)) as usize);
                if env.is_table() && env.as_table() == (*cache).env {
                    let v = (&raw mut (*(*cache).cell).value).get();
                    if !v.is_nil() {
                        ra!().put(v);
                        continue;
                    }
                }
                let name = k.add(i.c()).get();
                step!(index::get_global(st, i, env, name));
            }
            Op::GetTable => {
                let (object, key) = (rb!().get(), rc!().get());
                if key.is_int() {
                    get_int!(object, key.as_int());
                    continue;
                }
                if object.is_table() {
                    let t = object.as_table();
                    let v = if key.is_string() && LuaString::is_short(key.as_string()) {
                        note!(access::STRING);
                        Table::get_str(t, key.as_string())
                    } else {
                        note!(access::OTHER);
                        Table::get(t, key)
                    };
                    if !v.is_nil() || !Table::has_meta(t) {
                        ra!().put(v);
                        continue;
                    }
                } else {
                    note!(access::NO_TABLE);
                }
                step!(index::get(st, i.a(), object, key));
            }
            Op::GetI => get_int!(rb!().get(), i.c() as i64),
            Op::GetField => get_field!(rb!().get()),
            Op::SetTabUp => set_global!(rc!().get()),
            Op::SetTabUpK => set_global!(k.add(i.c()).get()),
            Op::SetTable => set_table!(rb!().get(), rc!().get()),
            Op::SetTableK => set_table!(rb!().get(), k.add(i.c()).get()),
            Op::SetI => set_table!(Value::int(i.b() as i64), rc!().get()),
            Op::SetIK => set_table!(Value::int(i.b() as i64), k.add(i.c()).get()),
            Op::SetField => set_field!(rc!().get()),
            Op::SetFieldK => set_field!(k.add(i.c()).get()),
            Op::NewTable => {
                let t = Table::new(st, i.b().min(64) as u8, i.c() as u32);
                ra!().put(Value::table(t));
                poll!(ra!().add(1));
            }
            Op::SelfK => {
                let object = rb!().get();
                ra!().add(2).put(object);
                get_field!(object);
            }
            Op::SelfR => {
                let (object, key) = (rb!().get(), rc!().get());
                ra!().add(2).put(object);
                step!(index::get(st, i.a(), object, key));
            }

            Op::AddI => arith!(
                rb!().get(),
                Value::int(i.c() as i64),
                Event::Add,
                |x, y| x.wrapping_add(y),
                |fx, fy| fx + fy
            ),
            Op::SubI => arith!(
                rb!().get(),
                Value::int(i.c() as i64),
                Event::Sub,
                |x, y| x.wrapping_sub(y),
                |fx, fy| fx - fy
            ),
            Op::AddK => arith!(
                rb!().get(),
                k.add(i.c()).get(),
                Event::Add,
                |x, y| x.wrapping_add(y),
                |fx, fy| fx + fy
            ),
            Op::SubK => arith!(
                rb!().get(),
                k.add(i.c()).get(),
                Event::Sub,
                |x, y| x.wrapping_sub(y),
                |fx, fy| fx - fy
            ),
            Op::MulK => arith!(
                rb!().get(),
                k.add(i.c()).get(),
                Event::Mul,
                |x, y| x.wrapping_mul(y),
                |fx, fy| fx * fy
            ),
            Op::ModK => divide!(rb!().get(), k.add(i.c()).get(), Event::Mod, int_mod, float_mod),
            Op::PowK => float_arith!(rb!().get(), k.add(i.c()).get(), Event::Pow, |x, y| pow(x, y)),
            Op::DivK => float_arith!(rb!().get(), k.add(i.c()).get(), Event::Div, |x, y| x / y),
            Op::IDivK => divide!(
                rb!().get(),
                k.add(i.c()).get(),
                Event::IDiv,
                int_floor_div,
                |x: f64, y: f64| (x / y).floor()
            ),
            Op::BAndK => bitwise!(rb!().get(), k.add(i.c()).get(), Event::BAnd, |x, y| x & y),
            Op::BOrK => bitwise!(rb!().get(), k.add(i.c()).get(), Event::BOr, |x, y| x | y),
            Op::BXorK => bitwise!(rb!().get(), k.add(i.c()).get(), Event::BXor, |x, y| x ^ y),
            Op::KAdd => arith!(
                k.add(i.b()).get(),
                rc!().get(),
                Event::Add,
                |x, y| x.wrapping_add(y),
                |fx, fy| fx + fy
            ),
            Op::KSub => arith!(
                k.add(i.b()).get(),
                rc!().get(),
                Event::Sub,
                |x, y| x.wrapping_sub(y),
                |fx, fy| fx - fy
            ),
            Op::KMul => arith!(
                k.add(i.b()).get(),
                rc!().get(),
                Event::Mul,
                |x, y| x.wrapping_mul(y),
                |fx, fy| fx * fy
            ),
            Op::KDiv => float_arith!(k.add(i.b()).get(), rc!().get(), Event::Div, |x, y| x / y),
            Op::ShrI => {
                bitwise!(rb!().get(), Value::int(i.c() as i64), Event::Shr, |x, y| shift_left(
                    x, -y
                ))
            }
            Op::ShlI => {
                bitwise!(rb!().get(), Value::int(i.c() as i64), Event::Shl, |x, y| shift_left(x, y))
            }
            Op::Add => {
                arith!(rb!().get(), rc!().get(), Event::Add, |x, y| x.wrapping_add(y), |fx, fy| fx
                    + fy)
            }
            Op::Sub => {
                arith!(rb!().get(), rc!().get(), Event::Sub, |x, y| x.wrapping_sub(y), |fx, fy| fx
                    - fy)
            }
            Op::Mul => {
                arith!(rb!().get(), rc!().get(), Event::Mul, |x, y| x.wrapping_mul(y), |fx, fy| fx
                    * fy)
            }
            Op::Mod => divide!(rb!().get(), rc!().get(), Event::Mod, int_mod, float_mod),
            Op::Pow => float_arith!(rb!().get(), rc!().get(), Event::Pow, |x, y| pow(x, y)),
            Op::Div => float_arith!(rb!().get(), rc!().get(), Event::Div, |x, y| x / y),
            Op::IDiv => {
                divide!(rb!().get(), rc!().get(), Event::IDiv, int_floor_div, |x: f64, y: f64| (x
                    / y)
                    .floor())
            }
            Op::BAnd => bitwise!(rb!().get(), rc!().get(), Event::BAnd, |x, y| x & y),
            Op::BOr => bitwise!(rb!().get(), rc!().get(), Event::BOr, |x, y| x | y),
            Op::BXor => bitwise!(rb!().get(), rc!().get(), Event::BXor, |x, y| x ^ y),
            Op::Shl => bitwise!(rb!().get(), rc!().get(), Event::Shl, |x, y| shift_left(x, y)),
            Op::Shr => bitwise!(rb!().get(), rc!().get(), Event::Shr, |x, y| shift_left(
                x,
                y.wrapping_neg()
            )),
            Op::Unm => {
                let v = rb!().get();
                if v.is_int() {
                    note!(seen::INT);
                    ra!().put(Value::int(v.as_int().wrapping_neg()));
                } else if v.is_float() {
                    note!(seen::FLOAT);
                    ra!().put(Value::float(-v.as_float()));
                } else {
                    step!(operators::arith_slow(st, i, Event::Unm, v, v));
                }
            }
            Op::BNot => {
                let v = rb!().get();
                if v.is_int() {
                    note!(seen::INT);
                    ra!().put(Value::int(!v.as_int()));
                } else {
                    step!(operators::arith_slow(st, i, Event::BNot, v, v));
                }
            }
            Op::Not => {
                let v = rb!().get();
                ra!().put(Value::bool(!v.truthy()));
            }
            Op::Len => {
                let v = rb!().get();
                if v.is_table() && !Table::has_meta(v.as_table()) {
                    ra!().put(Value::int(Table::length(v.as_table())));
                } else {
                    step!(operators::length_slow(st, i, v));
                }
            }
            Op::Concat => {
                step!(concat::concat(st, i, i.b()));
                poll!(frame_end!());
            }

            Op::Close => {
                (*st).close_upvalues(ra!());
                if (&(*(*st).thread).to_close)
                    .last()
                    .is_some_and(|&slot| slot >= ra!().offset_from((*(*st).thread).stack) as u32)
                {
                    step!(close_variable(st, ra!(), base).map(|_| ()));
                }
            }
            Op::Tbc => step!(for_loop::mark_to_close(st, ra!())),
            Op::Jmp => {
                ip = ip.sub(1);
                take_jump!();
            }
            Op::Eq => {
                let (a, b) = (ra!().get(), rb!().get());
                if a.tag() == b.tag() && a.tag().0 < Tag::FLOAT.0 {
                    note!(seen::INT);
                    test!(a.tag() != Tag::INTEGER || a.as_int() == b.as_int(), i);
                } else if a.same_bits(b) && !a.is_float() {
                    test!(true, i);
                } else if a.tag() != b.tag() && !(a.is_number() && b.is_number()) {
                    test!(false, i);
                } else {
                    step!(operators::equal_slow(st, i, a, b));
                }
            }
            Op::Lt => order!(ra!().get(), rb!().get(), Order::Less, <),
            Op::Le => order!(ra!().get(), rb!().get(), Order::LessEqual, <=),
            Op::EqK => {
                let (a, b) = (ra!().get(), k.add(i.b()).get());
                // constants are equal by their bits, or by a slower look at numbers and long strings
                let equal = (a.same_bits(b) && !a.is_float()) || a.raw_equals(b);
                test!(equal, i);
            }
            Op::EqI => {
                let a = ra!().get();
                let equal = if a.is_int() {
                    a.as_int() == i.sb()
                } else {
                    a.is_float() && a.as_float() == i.sb() as f64
                };
                test!(equal, i);
            }
            Op::LtI => order_immediate!(<, (Order::Less, false)),
            Op::LeI => order_immediate!(<=, (Order::LessEqual, false)),
            Op::GtI => order_immediate!(>, (Order::Less, true)),
            Op::GeI => order_immediate!(>=, (Order::LessEqual, true)),
            Op::Test => {
                if ra!().get().truthy() == (i.c() == 0) {
                    ip = ip.add(1);
                } else {
                    take_jump!();
                }
            }
            Op::TestSet => {
                let v = rb!().get();
                if v.truthy() == (i.c() == 0) {
                    ip = ip.add(1);
                } else {
                    ra!().put(v);
                    take_jump!();
                }
            }

            Op::Call => {
                let ra = ra!();
                let b = i.b();
                let nargs = if b != 0 { b - 1 } else { (*st).top.offset_from(ra) as usize - 2 };
                let f = ra.get();
                let cell = *cells.at(ip.sub(1)) as usize;
                if f.tag() == Tag::FUNCTION {
                    let callee = (*f.as_function()).instance;
                    if (*(*inst).callees.add(cell)).callee != callee.addr() {
                        note_callee(inst, cell, callee.addr());
                    }
                    let new_base = ra.add(2);
                    let size = (*callee).max_stack as usize;
                    let entry = machine::entry_of(callee);
                    if MODE != HOOKED
                        && machine::is_idle(entry)
                        && !(*callee).is_vararg
                        && (*st).limit.addr().wrapping_sub(new_base.addr()) as isize
                            >= (size * 16) as isize
                    {
                        save_pc!();
                        let params = (*callee).num_params as usize;
                        let mut j = nargs;
                        while j < params {
                            new_base.add(j).put(Value::NIL);
                            j += 1;
                        }
                        let frame = Frame(new_base);
                        frame.set_word(FrameWord::new(FrameWord::INTERPRETER, 0));
                        frame.set_link(Link::new(0, 0, i.a() + 2));
                        base = new_base;
                        (*st).base = base;
                        inst = callee;
                        ip = (*inst).code;
                        k = (*inst).constants.cast_mut();
                        cells = Cells::of(inst);
                        if MODE == COUNTED {
                            (*st).spend((&(&(*inst).proto).code).len() as u64);
                        }
                        (*inst).entries = (*inst).entries.wrapping_add(1);
                        if (*st).entry_threshold.is_reached((*inst).entries) {
                            crate::call::hot_entry(st, inst);
                        }
                        poll!(frame_end!());
                    } else if MODE != HOOKED && !machine::is_idle(entry) && machine::has_room(st) {
                        step!(machine::call_code(st, ra, entry, nargs, i.c()));
                        poll!((*st).top.max(frame_end!()));
                    } else {
                        step!(call_slow(st, ra, nargs));
                        poll!((*st).top.max(frame_end!()));
                    }
                } else if f.tag() == Tag::NATIVE && MODE != HOOKED {
                    let native = f.as_native();
                    let function = (*native).func as usize | CalleeCache::NATIVE;
                    if (*(*inst).callees.add(cell)).callee != function {
                        note_callee(inst, cell, function);
                    }
                    let new_base = ra.add(2);
                    save_pc!();
                    if (*st).limit.offset_from(new_base) < nargs as isize {
                        step!(call_slow(st, ra, nargs));
                        continue;
                    }
                    let frame = Frame(new_base);
                    frame.set_word(FrameWord::new(FrameWord::NATIVE, 0));
                    frame.set_link(Link::new(0, 0, i.a() + 2));
                    (*st).base = new_base;
                    (*st).top = new_base.add(nargs);
                    match ((*native).func)(Cx::from_state(st)) {
                        Ok(Ret(n))
                            if n >= -1 && (*st).poll.load(Ordering::Relaxed) & poll::HOOK != 0 =>
                        {
                            // it switched a hook on
                            match crate::call::native_returned(st, n, f) {
                                Ok(_) => return Exit::Switch,
                                Err(e) => return e,
                            }
                        }
                        Ok(Ret(n)) if n >= -1 => {
                            base = (*st).base.sub(i.a() + 2);
                            let ra = base.add(i.a());
                            let c = i.c();
                            let count = if n < 0 {
                                1
                            } else {
                                let n = n as usize;
                                let src = (*st).top.sub(n);
                                ret::move_values(src, ra, if c == 0 { n } else { n.min(c - 1) });
                                n
                            };
                            (*st).base = base;
                            if c == 0 {
                                (*st).top = ra.add(count);
                            } else {
                                let mut j = count;
                                while j < c - 1 {
                                    ra.add(j).put(Value::NIL);
                                    j += 1;
                                }
                            }
                            poll!(if c == 0 { (*st).top } else { ra.add(c - 1) });
                        }
                        Ok(r) => match after_native(st, r) {
                            Ok(()) => {
                                reload!();
                                changed!();
                            }
                            Err(e) => return e,
                        },
                        Err(_) => return Exit::Error,
                    }
                } else {
                    if (*(*inst).callees.add(cell)).callee != CalleeCache::OTHER {
                        note_callee(inst, cell, CalleeCache::OTHER);
                    }
                    step!(call_slow(st, ra, nargs));
                    if MODE == HOOKED {
                        poll!((*st).top);
                    }
                }
            }
            Op::CallMeta => {
                let ra = ra!();
                let f = ra.get();
                let (object, class) = (ra.add(2).get(), ra.add(3).get());
                if MODE != HOOKED
                    && f.tag() == Tag::NATIVE
                    && (*f.as_native()).header.word == Builtin::SetMetatable as u32
                    && object.is_table()
                    && class.is_table()
                    && (*object.as_table()).meta == 0
                {
                    Table::set_meta_index(st, object.as_table(), class.as_table());
                    let c = i.c();
                    if c != 1 {
                        ra.put(object);
                    }
                    if c == 0 {
                        (*st).top = ra.add(1);
                    } else {
                        let mut j = 1;
                        while j + 1 < c {
                            ra.add(j).put(Value::NIL);
                            j += 1;
                        }
                    }
                } else {
                    step!(call_meta(st, ra));
                }
            }
            Op::TailCall => {
                let b = i.b();
                let nargs = if b != 0 { b - 1 } else { (*st).top.offset_from(ra!()) as usize - 2 };
                step!(tail_call(st, ra!(), nargs, i.c() != 0));
                poll!((*st).top);
            }
            Op::Return => {
                let n = if i.b() != 0 { i.b() - 1 } else { (*st).top.offset_from(ra!()) as usize };
                if i.c() != 0 {
                    save_pc!();
                    match close_for_return(st, ra!(), n) {
                        Ok(false) => {}
                        Ok(true) => {
                            reload!();
                            continue;
                        }
                        Err(e) => return e,
                    }
                }
                leave!(ra!(), n);
            }
            Op::Return0 => leave!(base, 0),
            Op::Return1 => {
                let v = ra!().get();
                let link = Frame(base).link();
                if (MODE == HOOKED) || link.flags() & flags::RETURN_SLOW != 0 {
                    step!(return_slow(st, ra!(), 1));
                    continue;
                }
                let src = ra!();
                base = base.sub(link.distance());
                (*st).base = base;
                let word = Frame(base).word();
                if word.is_machine() {
                    return returned_to_machine(st, src, 1);
                }
                load_code!(word);
                let call = *ip.sub(1);
                if call.op_byte() == Op::Call as u8 && call.c() == 2 {
                    base.add(call.a()).put(v);
                } else {
                    step!(ret::deliver(st, src, 1));
                }
            }
            Op::ForPrep => {
                let (init, limit, step) = (ra!().get(), ra!().add(1).get(), ra!().add(2).get());
                let skip = if init.is_int() && limit.is_int() && step.is_int() && step.as_int() == 1
                {
                    // by far the most common loop
                    if init.as_int() > limit.as_int() {
                        true
                    } else {
                        ra!().add(1).put(Value::int(limit.as_int().wrapping_sub(init.as_int())));
                        ra!().add(3).put(init);
                        false
                    }
                } else {
                    save_pc!();
                    match for_loop::prepare(st, ra!()) {
                        Ok(skip) => skip,
                        Err(e) => return e,
                    }
                };
                note!(if ra!().get().is_int() { seen::INT } else { seen::FLOAT });
                if skip {
                    ip = ip.add(i.bx() + 1);
                }
            }
            Op::ForLoop => {
                let ra = ra!();
                let index = ra.get();
                if index.is_int() {
                    let left = ra.add(1).get().as_int() as u64;
                    if left > 0 {
                        let next = index.as_int().wrapping_add(ra.add(2).get().as_int());
                        ra.add(1).put(Value::int((left - 1) as i64));
                        ra.put(Value::int(next));
                        ra.add(3).put(Value::int(next));
                        go_round!(ip.sub(1), ip.sub(i.bx()));
                    }
                } else {
                    let (limit, step) = (ra.add(1).get().as_float(), ra.add(2).get().as_float());
                    let next = index.as_float() + step;
                    if if step > 0.0 { next <= limit } else { limit <= next } {
                        ra.put(Value::float(next));
                        ra.add(3).put(Value::float(next));
                        go_round!(ip.sub(1), ip.sub(i.bx()));
                    }
                }
            }
            Op::TForPrep => {
                save_pc!();
                // it calls nothing, and the stack stays where it is
                if let Err(e) = for_loop::prepare_generic(st, ra!()) {
                    return e;
                }
                ip = ip.add(i.bx());
            }
            Op::TForCall => {
                let ra = ra!();
                if MODE == HOOKED {
                    // hooks are to see the calls
                    if ra.add(3).get().tag() == Tag::ITER {
                        ra.add(3).put(Value::NIL);
                    }
                } else if for_loop::inline_round(ra, i.c()) {
                    continue;
                }
                step!(for_loop::call_iterator(st, i));
                poll!(frame_end!());
            }
            Op::TForLoop => {
                let ra = ra!();
                let v = ra.add(4).get();
                if !v.is_nil() {
                    ra.add(2).put(v);
                    go_round!(ip.sub(1), ip.sub(i.bx()));
                }
            }
            Op::SetList => {
                let start = (*ip).ax_value();
                ip = ip.add(1);
                let ra = ra!();
                let n = if i.b() != 0 { i.b() } else { (*st).top.offset_from(ra) as usize - 1 };
                // the verifier knows that the register is written, not that NEWTABLE wrote it
                if !ra.get().is_table() {
                    save_pc!();
                    (*st).top = (*st).top.max(frame_end!());
                    return debug::runtime_error(st, b"bad binary chunk (no table to fill)")
                        .into_exit();
                }
                Table::set_list(st, ra.get().as_table(), start as u32, ra.add(1), n);
            }
            Op::Closure => {
                let v = make_closure(st, inst, i.bx(), base);
                ra!().put(v);
                poll!(ra!().add(1));
            }
            Op::VarArg => {
                let n = Frame(base).link().extra();
                let want = if i.c() == 0 {
                    if (*st).limit.offset_from(ra!()) < n as isize {
                        save_pc!();
                        if let Err(e) = grow_for_varargs(st, ra!(), n) {
                            return e;
                        }
                        base = (*st).base;
                    }
                    (*st).top = ra!().add(n);
                    n
                } else {
                    i.c() - 1
                };
                let ra = ra!();
                let from = base.sub(2 + n);
                let mut j = 0;
                while j < want {
                    ra.add(j).put(if j < n { from.add(j).get() } else { Value::NIL });
                    j += 1;
                }
            }
            // the frame was laid out by the call
            Op::VarArgPrep => {}
            Op::ExtraArg => {}
        }
    }
}
