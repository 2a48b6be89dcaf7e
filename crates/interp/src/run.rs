//! The loop: fetches and executes instructions of Lua frames.
//!
//! While it runs, the frame's base, code, pc and constants live in local variables; `State::base`
//! always equals `base`. All slow paths are steps (see [`crate::step`]): the pc is stored in the
//! frame word, the step runs, and the local variables are reloaded from the frame that is then on
//! top.
//!
//! This file is longer than others because it is one `match` over the instruction set.

use std::sync::atomic::Ordering;

use perilune_bytecode::feedback::{access, operands as seen};
use perilune_bytecode::{Instr, Op};
use perilune_runtime::closure::{LuaClosure, NativeClosure};
use perilune_runtime::debug;
use perilune_runtime::frame::{Frame, FrameWord, Link, flags};
use perilune_runtime::instance::{FieldCache, Instance};
use perilune_runtime::meta::Event;
use perilune_runtime::native::{Cx, Ret};
use perilune_runtime::state::{State, poll};
use perilune_runtime::string::LuaString;
use perilune_runtime::table::Table;
use perilune_runtime::upvalue::Upvalue;
use perilune_runtime::value::{SlotExt, Tag, Value};

use crate::class::{call_meta, set_class};
use crate::closing_scope::{close_for_return, close_variable};
use crate::closure::make_closure;
use crate::enter::hot_entry;
use crate::feedback::{self, Cells, access_of_int, note_call, note_callee, store_to_int};
use crate::loop_entry::hot_loop;
use crate::native::{
    after_native, call_for_instruction, deliver, native_returned, return_slow, returned_to_machine,
    run_to_lua,
};
use crate::numbers::*;
use crate::operators::{self, Order};
use crate::poll::safepoint;
use crate::slots::{clear, move_values};
use crate::step::{Exit, IntoExit};
use crate::tail::tail_call;
use crate::varargs::{copy_extra, grow_for_extra};
use crate::{concat, for_loop, hooks, index, machine};

/// Runs the instruction at the pc of a frame of machine code. Returns [`Exit::Done`] when the
/// instruction is completed, with the pc after it, or when another frame is on top.
///
/// # Safety
/// I1, I2. The instruction is not a call or return.
pub(crate) unsafe fn one(st: *mut State) -> Exit {
    run::<ONE>(st)
}

/// The loop.
pub(crate) const PLAIN: u8 = 0;
/// The loop that calls hooks.
pub(crate) const HOOKED: u8 = 1;
/// The loop of states whose instructions are counted.
pub(crate) const COUNTED: u8 = 3;
/// One instruction for machine code.
const ONE: u8 = 2;
/// One instruction of the plain loop.
pub(crate) const SINGLE: u8 = 4;

/// Runs frames until the frame on top is one that this loop does not run.
///
/// # Safety
/// I1, I2.
#[allow(clippy::cognitive_complexity)]
pub(crate) unsafe fn run<const MODE: u8>(st: *mut State) -> Exit {
    let mut base: *mut Value;
    let mut inst: *mut Instance;
    let mut k: *mut Value;
    // the next instruction, and the feedback cells, whose array runs parallel to the instructions
    let mut ip: *const Instr;
    let mut cells: Cells;
    // the code of the running frame, which is machine code if the loop runs one instruction for it
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
                // native code is waiting for this frame
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
    // Runs a step, then continues from the frame that is on top.
    macro_rules! step {
        ($e:expr) => {{
            save_pc!();
            match $e {
                // the instruction is completed, or waits for a frame on top
                Ok(()) if MODE == ONE => return Exit::Done,
                Ok(()) => {
                    reload!();
                    changed!();
                }
                Err(e) => return e,
            }
        }};
    }
    // The callee may have used up the instructions, or, in machine code, set a hook.
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
    // Counts an iteration in the cell of a loop's last instruction, at `$last`; continues at
    // `$target`.
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
            let hot = MODE != HOOKED && MODE != ONE && (*st).loop_threshold.is_reached(count);
            if hot {
                step!(hot_loop(st));
            }
            poll!(if hot { (*st).top.max(frame_end!()) } else { frame_end!() });
        }};
    }
    // Takes the JMP at `ip`. Machine code takes it itself, or the interpreter does after a
    // deoptimization, so that a loop's iteration is charged and polled in one place.
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
        if MODE == ONE || MODE == SINGLE {
            if !first {
                save_pc!();
                return if MODE == ONE { Exit::Done } else { Exit::Stepped };
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
            ($op:ty, $b:expr, $c:expr) => {{
                let (b, c): (Value, Value) = ($b, $c);
                if b.is_int() && c.is_int() {
                    note!(seen::INT);
                    ra!().put(Value::int(<$op>::int(b.as_int(), c.as_int())));
                } else if b.is_float() && c.is_float() {
                    note!(seen::FLOAT);
                    ra!().put(Value::float(<$op>::float(b.as_float(), c.as_float())));
                } else if b.is_float() && c.is_int() {
                    note!(seen::MIXED);
                    ra!().put(Value::float(<$op>::float(b.as_float(), c.as_int() as f64)));
                } else if b.is_int() && c.is_float() {
                    note!(seen::MIXED);
                    ra!().put(Value::float(<$op>::float(b.as_int() as f64, c.as_float())));
                } else {
                    step!(operators::arith_slow(st, i, <$op>::EVENT, b, c));
                }
            }};
        }
        // As arith!, for division and modulo of integers, whose divisor may be 0.
        macro_rules! divide {
            ($op:ty, $b:expr, $c:expr) => {{
                let (b, c): (Value, Value) = ($b, $c);
                if b.is_int() && c.is_int() && c.as_int() != 0 {
                    note!(seen::INT);
                    ra!().put(Value::int(<$op>::int(b.as_int(), c.as_int())));
                } else if b.is_float() && c.is_float() {
                    note!(seen::FLOAT);
                    ra!().put(Value::float(<$op>::float(b.as_float(), c.as_float())));
                } else {
                    step!(operators::arith_slow(st, i, <$op>::EVENT, b, c));
                }
            }};
        }
        // R[A] := b op c, always a float.
        macro_rules! float_arith {
            ($op:ty, $b:expr, $c:expr) => {{
                let (b, c): (Value, Value) = ($b, $c);
                if b.is_number() && c.is_number() {
                    note!(if b.is_float() && c.is_float() { seen::FLOAT } else { seen::MIXED });
                    let x = if b.is_float() { b.as_float() } else { b.as_int() as f64 };
                    let y = if c.is_float() { c.as_float() } else { c.as_int() as f64 };
                    ra!().put(Value::float(<$op>::float(x, y)));
                } else {
                    step!(operators::arith_slow(st, i, <$op>::EVENT, b, c));
                }
            }};
        }
        macro_rules! bitwise {
            ($op:ty, $b:expr, $c:expr) => {{
                let (b, c): (Value, Value) = ($b, $c);
                if b.is_int() && c.is_int() {
                    note!(seen::INT);
                    ra!().put(Value::int(<$op>::int(b.as_int(), c.as_int())));
                } else {
                    step!(operators::arith_slow(st, i, <$op>::EVENT, b, c));
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
                    let b = i.sb();
                    let imm = if i.c() & 2 != 0 { Value::float(b as f64) } else { Value::int(b) };
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
                    && let Some(v) = FieldCache::hit_get(st, field_cache!(), object.as_table())
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
                step!(index::get_missing(st, i.a(), object, Value::int(n)));
            }};
        }
        macro_rules! set_table {
            ($key:expr, $v:expr) => {{
                let (object, key, v): (Value, Value, Value) = (ra!().get(), $key, $v);
                if object.is_table() {
                    let t = object.as_table();
                    if key.is_int() {
                        note!(store_to_int(t, key.as_int()));
                        if !Table::has_meta(t) {
                            if Table::set_int_within(st, t, key.as_int(), v) {
                                continue;
                            }
                            step!(index::set_element(st, object, key, v));
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
                            step!(index::set_element(st, object, key, v));
                        }
                        if Table::set_existing_str(st, t, key.as_string(), v) {
                            continue;
                        }
                    } else {
                        note!(feedback::store_to(t, key));
                    }
                } else {
                    note!(access::NO_TABLE);
                }
                step!(index::set_element(st, object, key, v));
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
                            move_values(src, dst, n);
                            (*st).top = dst.add(n);
                        } else {
                            let want = c - 1;
                            for j in 0..want {
                                dst.add(j).put(if j < n { src.add(j).get() } else { Value::NIL });
                            }
                        }
                    } else {
                        step!(deliver(st, src, n));
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
                        note!(feedback::load_of(t, key));
                        Table::get(t, key)
                    };
                    if !v.is_nil() || !Table::has_meta(t) {
                        ra!().put(v);
                        continue;
                    }
                } else {
                    note!(access::NO_TABLE);
                }
                step!(index::get_missing(st, i.a(), object, key));
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
                let pc = ip.offset_from((*inst).code) as usize - 1;
                ra!().put(Value::table(Table::of_constructor(st, inst, pc, i.b())));
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

            Op::AddI => arith!(Add, rb!().get(), Value::int(i.c() as i64)),
            Op::SubI => arith!(Sub, rb!().get(), Value::int(i.c() as i64)),
            Op::AddK => arith!(Add, rb!().get(), k.add(i.c()).get()),
            Op::SubK => arith!(Sub, rb!().get(), k.add(i.c()).get()),
            Op::MulK => arith!(Mul, rb!().get(), k.add(i.c()).get()),
            Op::ModK => divide!(Mod, rb!().get(), k.add(i.c()).get()),
            Op::PowK => float_arith!(Pow, rb!().get(), k.add(i.c()).get()),
            Op::DivK => float_arith!(Div, rb!().get(), k.add(i.c()).get()),
            Op::IDivK => divide!(IDiv, rb!().get(), k.add(i.c()).get()),
            Op::BAndK => bitwise!(BAnd, rb!().get(), k.add(i.c()).get()),
            Op::BOrK => bitwise!(BOr, rb!().get(), k.add(i.c()).get()),
            Op::BXorK => bitwise!(BXor, rb!().get(), k.add(i.c()).get()),
            Op::KAdd => arith!(Add, k.add(i.b()).get(), rc!().get()),
            Op::KSub => arith!(Sub, k.add(i.b()).get(), rc!().get()),
            Op::KMul => arith!(Mul, k.add(i.b()).get(), rc!().get()),
            Op::KDiv => float_arith!(Div, k.add(i.b()).get(), rc!().get()),
            Op::ShrI => bitwise!(Shr, rb!().get(), Value::int(i.c() as i64)),
            Op::ShlI => bitwise!(Shl, rb!().get(), Value::int(i.c() as i64)),
            Op::Add => arith!(Add, rb!().get(), rc!().get()),
            Op::Sub => arith!(Sub, rb!().get(), rc!().get()),
            Op::Mul => arith!(Mul, rb!().get(), rc!().get()),
            Op::Mod => divide!(Mod, rb!().get(), rc!().get()),
            Op::Pow => float_arith!(Pow, rb!().get(), rc!().get()),
            Op::Div => float_arith!(Div, rb!().get(), rc!().get()),
            Op::IDiv => divide!(IDiv, rb!().get(), rc!().get()),
            Op::BAnd => bitwise!(BAnd, rb!().get(), rc!().get()),
            Op::BOr => bitwise!(BOr, rb!().get(), rc!().get()),
            Op::BXor => bitwise!(BXor, rb!().get(), rc!().get()),
            Op::Shl => bitwise!(Shl, rb!().get(), rc!().get()),
            Op::Shr => bitwise!(Shr, rb!().get(), rc!().get()),
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
                step!(run_to_lua(st, concat::concat(st, i, i.b())));
                poll!((*st).top.max(frame_end!()));
            }
            Op::Close => {
                (*st).close_upvalues(ra!());
                let level = ra!().offset_from((*(*st).thread).stack) as u32;
                if (&(*(*st).thread).to_close).last().is_some_and(|&slot| slot >= level) {
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
                // constants are equal if their bits are, or by a slower comparison of numbers and
                // long strings
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
                            >= (size * size_of::<Value>()) as isize
                    {
                        save_pc!();
                        let params = (*callee).num_params as usize;
                        clear(new_base, nargs, params);
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
                            hot_entry(st, inst);
                        }
                        poll!(frame_end!());
                    } else if MODE != HOOKED && !machine::is_idle(entry) && machine::has_room(st) {
                        step!(run_to_lua(st, machine::call_code(st, ra, entry, nargs, i.c())));
                        poll!((*st).top.max(frame_end!()));
                    } else {
                        step!(call_for_instruction(st, ra, nargs));
                        poll!((*st).top.max(frame_end!()));
                    }
                } else if f.tag() == Tag::NATIVE && MODE != HOOKED {
                    let native = f.as_native();
                    let function = NativeClosure::callee(native);
                    if (*(*inst).callees.add(cell)).callee != function {
                        note_callee(inst, cell, function);
                    }
                    let new_base = ra.add(2);
                    save_pc!();
                    if (*st).limit.offset_from(new_base) < nargs as isize {
                        step!(call_for_instruction(st, ra, nargs));
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
                            match native_returned(st, n, f) {
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
                                move_values(src, ra, if c == 0 { n } else { n.min(c - 1) });
                                n
                            };
                            (*st).base = base;
                            if c == 0 {
                                (*st).top = ra.add(count);
                            } else {
                                clear(ra, count, c - 1);
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
                    save_pc!();
                    note_call(st, inst, cell, f);
                    step!(call_for_instruction(st, ra, nargs));
                    if MODE == HOOKED {
                        poll!((*st).top);
                    }
                }
            }
            Op::CallMeta => {
                if MODE == HOOKED || !set_class(st, ra!(), i.c()) {
                    step!(call_meta(st, ra!()));
                }
            }
            Op::TailCall => {
                let (b, ra) = (i.b(), ra!());
                let nargs = if b != 0 { b - 1 } else { (*st).top.offset_from(ra) as usize - 2 };
                save_pc!();
                note_call(st, inst, *cells.at(ip.sub(1)) as usize, ra.get());
                step!(tail_call(st, ra, nargs, i.c() != 0));
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
                            changed!();
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
                    step!(deliver(st, src, 1));
                }
            }
            Op::ForPrep => {
                let (init, limit, step) = (ra!().get(), ra!().add(1).get(), ra!().add(2).get());
                let skip = if init.is_int() && limit.is_int() && step.is_int() && step.as_int() == 1
                {
                    // by far the most common kind of loop
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
                note!(for_loop::seen_in_loop(ra!().get(), limit));
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
                // it calls nothing, and the stack does not move
                if let Err(e) = for_loop::prepare_generic(st, ra!()) {
                    return e;
                }
                ip = ip.add(i.bx());
            }
            Op::TForCall => {
                let ra = ra!();
                if MODE == HOOKED {
                    // hooks must be notified of the calls
                    if ra.add(3).get().tag() == Tag::ITER {
                        ra.add(3).put(Value::NIL);
                    }
                } else if for_loop::inline_round(ra, i.c()) {
                    continue;
                }
                step!(for_loop::call_iterator(st, i));
                poll!((*st).top.max(frame_end!()));
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
                // the verifier does not know that NEWTABLE wrote the register
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
                if !copy_extra(st, base, i.a(), i.c()) {
                    step!(grow_for_extra(st, i.a()));
                }
            }
            // the frame was laid out by the call
            Op::VarArgPrep => {}
            Op::ExtraArg => {}
        }
    }
}
