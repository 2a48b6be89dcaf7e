//! The functions that execute a single instruction that its definition leaves to the runtime, for
//! the opcodes for which this is common (`step` in `crates/semantics`).
//!
//! Each function executes the whole instruction, as the loop of [`crate::run`] does: the definition
//! has had no effect, except that it may have set feedback bits. The position after the instruction
//! is stored in the frame word of the frame on top.

use std::sync::atomic::Ordering;

use perilune_bytecode::feedback::{access, operands as seen};
use perilune_bytecode::{Instr, Op};
use perilune_runtime::closure::LuaClosure;
use perilune_runtime::frame::{Frame, flags};
use perilune_runtime::instance::{FieldCache, Instance};
use perilune_runtime::state::{State, poll as reason};
use perilune_runtime::string::LuaString;
use perilune_runtime::table::Table;
use perilune_runtime::value::{SlotExt, Tag, Value};

use super::runtime::{CONTINUE, status, stepped};
use crate::closing_scope::close_for_return;
use crate::feedback::{access_of_int, load_of, note_call, store_to, store_to_int};
use crate::native::{call_for_instruction, deliver, return_slow, returned_to_machine, run_to_lua};
use crate::operators::{self, Order};
use crate::poll::safepoint;
use crate::step::Step;
use crate::tail::tail_call;
use crate::{for_loop, index, machine, ret};

/// The current instruction of the frame on top.
struct At {
    base: *mut Value,
    instance: *mut Instance,
    /// Its pc.
    number: usize,
    i: Instr,
}

impl At {
    /// Returns the current instruction of the frame on top.
    #[inline(always)]
    unsafe fn top(st: *mut State) -> At {
        let base = (*st).base;
        let instance = (*Frame(base).callee().as_function()).instance;
        let number = Frame(base).word().pc() as usize - 1;
        At { base, instance, number, i: *(*instance).code.add(number) }
    }

    /// Returns a register.
    #[inline(always)]
    unsafe fn register(&self, n: usize) -> *mut Value {
        self.base.add(n)
    }

    /// Returns a constant.
    #[inline(always)]
    unsafe fn constant(&self, n: usize) -> Value {
        (*self.instance).constants.add(n).cast_mut().get()
    }

    /// Returns the feedback cell.
    #[inline(always)]
    unsafe fn cell(&self) -> *mut u32 {
        (*self.instance).cells.add(self.number)
    }

    /// Sets bits of the feedback cell.
    #[inline(always)]
    unsafe fn note(&self, bits: u32) {
        *self.cell() |= bits;
    }

    /// Returns the cache of the field.
    #[inline(always)]
    unsafe fn field_cache(&self) -> *mut FieldCache {
        (*self.instance).fields.add(*self.cell() as usize)
    }

    /// Stores the result in register A.
    #[inline(always)]
    unsafe fn put(&self, v: Value) -> u64 {
        self.register(self.i.a()).put(v);
        CONTINUE
    }

    /// Returns the place of an upvalue of the running function.
    #[inline(always)]
    unsafe fn upvalue(&self, n: usize) -> Value {
        (**LuaClosure::upvalue(Frame(self.base).callee().as_function(), n)).place.get()
    }

    /// Continues after a test: the jump that follows is skipped, or not.
    unsafe fn test(&self, holds: bool) -> u64 {
        if holds != (self.i.c() & 1 != 0) {
            self.jump(1);
        }
        CONTINUE
    }

    /// Advances the position by this number of instructions.
    unsafe fn jump(&self, ahead: usize) {
        let frame = Frame(self.base);
        frame.set_word(frame.word().at(frame.word().pc() + ahead as u32));
    }
}

/// Returns the status after a step that a safepoint follows. `end` gives the end of the live
/// registers of the frame on top.
#[inline(always)]
pub(super) unsafe fn polled(st: *mut State, step: Step, end: impl FnOnce() -> *mut Value) -> u64 {
    let status = stepped(st, step);
    if status != CONTINUE || (*st).poll.load(Ordering::Relaxed) == 0 {
        return status;
    }
    stepped(st, safepoint(st, end(), false))
}

/// Returns the end of the registers of the frame on top, which is one of a Lua function.
pub(super) unsafe fn frame_end(st: *mut State) -> *mut Value {
    let base = (*st).base;
    base.add((*(*Frame(base).callee().as_function()).instance).max_stack as usize)
}

/// GETFIELD, SELF
pub(super) unsafe extern "C-unwind" fn get_field(st: *mut State) -> u64 {
    let at = At::top(st);
    let i = at.i;
    let object = at.register(i.b()).get();
    if i.op() == Op::SelfK {
        at.register(i.a() + 2).put(object);
    }
    if object.is_table() {
        let (t, name) = (object.as_table(), at.constant(i.c()).as_string());
        if let Some(f) = index::recorded_function(st, at.instance, at.number, t, name) {
            return stepped(st, operators::call_meta2(st, f, object, Value::string(name)));
        }
        if let Some(v) = index::get_of_dictionary(st, at.field_cache(), t, name) {
            return at.put(v);
        }
        if let Some(v) = FieldCache::hit_get(st, at.field_cache(), t) {
            return at.put(v);
        }
    } else if object.is_string()
        && let Some(v) = FieldCache::hit_method(at.field_cache(), st)
    {
        return at.put(v);
    }
    stepped(st, index::get_field(st, i, object, at.constant(i.c())))
}

/// GETTABLE, GETI, SELFR
pub(super) unsafe extern "C-unwind" fn get(st: *mut State) -> u64 {
    let at = At::top(st);
    let i = at.i;
    let object = at.register(i.b()).get();
    let key = if i.op() == Op::GetI { Value::int(i.c() as i64) } else { at.register(i.c()).get() };
    if i.op() == Op::SelfR {
        at.register(i.a() + 2).put(object);
        return stepped(st, index::get(st, i.a(), object, key));
    }
    if object.is_table() {
        let t = object.as_table();
        let v = if key.is_int() {
            at.note(access_of_int(t, key.as_int()));
            Table::get_int(t, key.as_int())
        } else if key.is_string() && LuaString::is_short(key.as_string()) {
            at.note(access::STRING);
            Table::get_str(t, key.as_string())
        } else {
            at.note(load_of(t, key));
            Table::get(t, key)
        };
        if !v.is_nil() || !Table::has_meta(t) {
            return at.put(v);
        }
    } else {
        at.note(access::NO_TABLE);
    }
    stepped(st, index::get_missing(st, i.a(), object, key))
}

/// GETTABUP
pub(super) unsafe extern "C-unwind" fn get_global(st: *mut State) -> u64 {
    let at = At::top(st);
    let i = at.i;
    let env = at.upvalue(i.b());
    let cache = (*at.instance).globals.add(*at.cell() as usize);
    if env.is_table() && env.as_table() == (*cache).env {
        let v = (&raw mut (*(*cache).cell).value).get();
        if !v.is_nil() {
            return at.put(v);
        }
    }
    stepped(st, index::get_global(st, i, env, at.constant(i.c())))
}

/// SETFIELD, SETFIELDK
pub(super) unsafe extern "C-unwind" fn set_field(st: *mut State) -> u64 {
    let at = At::top(st);
    let i = at.i;
    let object = at.register(i.a()).get();
    let v = if i.op() == Op::SetFieldK { at.constant(i.c()) } else { at.register(i.c()).get() };
    if object.is_table() {
        let (t, name) = (object.as_table(), at.constant(i.b()).as_string());
        if let Some(f) = index::recorded_function(st, at.instance, at.number, t, name) {
            return stepped(st, operators::call_meta3(st, f, object, Value::string(name), v));
        }
        if index::set_of_dictionary(st, at.field_cache(), t, (name, v))
            || FieldCache::hit_set(st, at.field_cache(), t, v)
        {
            return CONTINUE;
        }
    }
    stepped(st, index::set_field(st, object, at.constant(i.b()), v))
}

/// SETTABLE, SETTABLEK, SETI, SETIK
pub(super) unsafe extern "C-unwind" fn set(st: *mut State) -> u64 {
    let at = At::top(st);
    let i = at.i;
    let object = at.register(i.a()).get();
    let key = match i.op() {
        Op::SetI | Op::SetIK => Value::int(i.b() as i64),
        _ => at.register(i.b()).get(),
    };
    let v = match i.op() {
        Op::SetTableK | Op::SetIK => at.constant(i.c()),
        _ => at.register(i.c()).get(),
    };
    if object.is_table() {
        let t = object.as_table();
        let stored = if key.is_int() {
            at.note(store_to_int(t, key.as_int()));
            if Table::has_meta(t) {
                Table::set_existing_int(st, t, key.as_int(), v)
            } else {
                Table::set_int_within(st, t, key.as_int(), v)
            }
        } else if key.is_string() && LuaString::is_short(key.as_string()) {
            at.note(access::STRING);
            if Table::has_meta(t) {
                Table::set_existing_str(st, t, key.as_string(), v)
            } else {
                Table::set_short_within(st, t, key.as_string(), v)
            }
        } else {
            at.note(store_to(t, key));
            false
        };
        if stored {
            return CONTINUE;
        }
    } else {
        at.note(access::NO_TABLE);
    }
    stepped(st, index::set_element(st, object, key, v))
}

/// LEN
pub(super) unsafe extern "C-unwind" fn length(st: *mut State) -> u64 {
    let at = At::top(st);
    let v = at.register(at.i.b()).get();
    if v.is_table() && !Table::has_meta(v.as_table()) {
        return at.put(Value::int(Table::length(v.as_table())));
    }
    stepped(st, operators::length_slow(st, at.i, v))
}

/// EQ
pub(super) unsafe extern "C-unwind" fn equal(st: *mut State) -> u64 {
    let at = At::top(st);
    let (a, b) = (at.register(at.i.a()).get(), at.register(at.i.b()).get());
    if a.tag() == b.tag() && a.tag().0 < Tag::FLOAT.0 {
        at.note(seen::INT);
        at.test(a.tag() != Tag::INTEGER || a.as_int() == b.as_int())
    } else if a.same_bits(b) && !a.is_float() {
        at.test(true)
    } else if a.tag() != b.tag() && !(a.is_number() && b.is_number()) {
        at.test(false)
    } else {
        stepped(st, operators::equal_slow(st, at.i, a, b))
    }
}

/// LT, LE
pub(super) unsafe extern "C-unwind" fn order(st: *mut State) -> u64 {
    let at = At::top(st);
    let (a, b) = (at.register(at.i.a()).get(), at.register(at.i.b()).get());
    let less = at.i.op() == Op::Lt;
    if a.is_int() && b.is_int() {
        at.note(seen::INT);
        let (a, b) = (a.as_int(), b.as_int());
        at.test(if less { a < b } else { a <= b })
    } else if a.is_float() && b.is_float() {
        at.note(seen::FLOAT);
        let (a, b) = (a.as_float(), b.as_float());
        at.test(if less { a < b } else { a <= b })
    } else {
        let order = if less { Order::Less } else { Order::LessEqual };
        stepped(st, operators::order_slow(st, at.i, order, a, b))
    }
}

/// Returns the number of arguments of a call, whose function is at `ra`, according to operand B.
unsafe fn arguments(st: *mut State, i: Instr, ra: *mut Value) -> usize {
    if i.b() != 0 { i.b() - 1 } else { (*st).top.offset_from(ra) as usize - Frame::RESERVED }
}

/// CALL
pub(super) unsafe extern "C-unwind" fn call(st: *mut State) -> u64 {
    let at = At::top(st);
    let ra = at.register(at.i.a());
    let nargs = arguments(st, at.i, ra);
    let f = ra.get();
    let mut code = None;
    if f.tag() == Tag::FUNCTION {
        let entry = machine::entry_of((*f.as_function()).instance);
        if !machine::is_idle(entry) && machine::has_room(st) {
            code = Some(entry);
        }
    }
    note_call(st, at.instance, *at.cell() as usize, f);
    let step = match code {
        Some(entry) => run_to_lua(st, machine::call_code(st, ra, entry, nargs, at.i.c())),
        None => call_for_instruction(st, ra, nargs),
    };
    polled(st, step, || (*st).top.max(frame_end(st)))
}

/// TAILCALL
pub(super) unsafe extern "C-unwind" fn tail(st: *mut State) -> u64 {
    let at = At::top(st);
    let ra = at.register(at.i.a());
    let nargs = arguments(st, at.i, ra);
    note_call(st, at.instance, *at.cell() as usize, ra.get());
    polled(st, tail_call(st, ra, nargs, at.i.c() != 0), || (*st).top)
}

/// RETURN, RETURN0, RETURN1
pub(super) unsafe extern "C-unwind" fn leave(st: *mut State) -> u64 {
    let at = At::top(st);
    let i = at.i;
    let mut values = at.register(i.a());
    let n = match i.op() {
        Op::Return0 => {
            values = at.base;
            0
        }
        Op::Return1 => 1,
        _ => {
            let open = i.b() == 0;
            let n = if open { (*st).top.offset_from(values) as usize } else { i.b() - 1 };
            if i.c() != 0 {
                match close_for_return(st, values, n) {
                    Ok(false) => {}
                    Ok(true) => return stepped(st, Ok(())),
                    Err(e) => return status(e),
                }
            }
            n
        }
    };
    let link = Frame(at.base).link();
    if link.flags() & flags::RETURN_SLOW != 0 {
        if (*st).poll.load(Ordering::Relaxed) & reason::HOOK == 0 {
            // most often, native code is waiting for the results
            return stepped(st, run_to_lua(st, ret::leave(st, values, n)));
        }
        return stepped(st, return_slow(st, values, n));
    }
    let caller = at.base.sub(link.distance());
    (*st).base = caller;
    if Frame(caller).word().is_machine() {
        return status(returned_to_machine(st, values, n));
    }
    stepped(st, deliver(st, values, n))
}

/// FORPREP
pub(super) unsafe extern "C-unwind" fn prepare(st: *mut State) -> u64 {
    let at = At::top(st);
    let ra = at.register(at.i.a());
    let limit = ra.add(1).get();
    match for_loop::prepare(st, ra) {
        Ok(skip) => {
            at.note(for_loop::seen_in_loop(ra.get(), limit));
            if skip {
                at.jump(at.i.bx() + 1);
            }
            CONTINUE
        }
        Err(e) => status(e),
    }
}

/// TFORCALL
pub(super) unsafe extern "C-unwind" fn iterate(st: *mut State) -> u64 {
    let at = At::top(st);
    if for_loop::inline_round(at.register(at.i.a()), at.i.c()) {
        return CONTINUE;
    }
    polled(st, for_loop::call_iterator(st, at.i), || (*st).top.max(frame_end(st)))
}
