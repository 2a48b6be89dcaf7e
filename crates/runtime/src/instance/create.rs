//! The creation of instances.

use std::ptr::{null, null_mut};
use std::sync::Arc;

use perilune_bytecode::{Constant, Instr, Op, Proto, RecordCounts};

use super::{CalleeCache, FieldCache, GlobalCache, Instance, Places, Site};
use crate::header::{GcHeader, Kind};
use crate::state::State;
use crate::string::{LuaString, MAX_SHORT};
use crate::value::Value;

/// Returns the number of the constant by which an instruction names a field.
fn field_name(i: Instr) -> Option<usize> {
    match i.op() {
        Op::GetField | Op::SelfK => Some(i.c()),
        Op::SetField | Op::SetFieldK => Some(i.b()),
        _ => None,
    }
}

impl Instance {
    /// Creates the instance of `proto` in `st`; `parent` is the instance of the function that
    /// contains it, or null. The instance is not reachable from a root yet: the caller stores it in
    /// a closure or in its parent. Returns null if there is no memory for a large one, from 64 KB
    /// on.
    ///
    /// # Safety
    /// `st` is live.
    pub unsafe fn create(
        st: &mut State,
        proto: Arc<Proto>,
        parent: *mut Instance,
    ) -> *mut Instance {
        let slot = st.tier.as_mut().and_then(|tier| tier.slot(&proto)).unwrap_or(st.vm.idle_slot);
        let counts = RecordCounts::of(&proto.code);
        let places = Places::of(&proto, counts);
        let this = st.heap.memory.alloc_if_any(places.size);
        if this.is_null() {
            return null_mut();
        }
        let constants = this.add(places.constants).cast::<Value>();
        for (i, constant) in proto.constants.iter().enumerate() {
            constants.add(i).write(match *constant {
                Constant::Nil => Value::NIL,
                Constant::Bool(b) => Value::bool(b),
                Constant::Integer(i) => Value::int(i),
                Constant::Float(f) => Value::float(f),
                Constant::Str(text) => {
                    let bytes = proto.str(text);
                    Instance::long_string(parent, bytes)
                        .unwrap_or_else(|| Value::string(st.intern(bytes)))
                }
            });
        }
        let cells = this.add(places.cells).cast::<u32>();
        let mut records = RecordCounts::default();
        for (pc, instr) in proto.code.iter().enumerate() {
            cells.add(pc).write(records.number(instr.op().feedback()).unwrap_or(0));
            if let Some(n) = field_name(*instr)
                && let Some(Constant::Str(_)) = proto.constants.get(n)
            {
                (*(*constants.add(n)).as_string()).uses |= LuaString::NAMES_FIELD;
            }
        }
        let fields = this.add(places.fields).cast::<FieldCache>();
        for i in 0..counts.fields as usize {
            fields.add(i).write(FieldCache::EMPTY);
        }
        let globals = this.add(places.globals).cast::<GlobalCache>();
        for i in 0..counts.globals as usize {
            globals.add(i).write(GlobalCache::EMPTY);
        }
        let callees = this.add(places.callees).cast::<CalleeCache>();
        for i in 0..counts.callees as usize {
            callees.add(i).write(CalleeCache { callee: 0, others: 0 });
        }
        let sites = this.add(places.sites).cast::<Site>();
        for i in 0..counts.sites as usize {
            sites.add(i).write(Site { shape: null_mut() });
        }
        let children = this.add(places.children).cast::<*mut Instance>();
        for i in 0..proto.protos.len() {
            children.add(i).write(null_mut());
        }
        let this = this.cast::<Instance>();
        // The inline caches of callees hold the address of the instance as an integer.
        this.expose_provenance();
        this.write(Instance {
            header: GcHeader { kind: Kind::Instance, mark: 0, flags: 0, aux: 0, word: 0 },
            code: proto.code.as_ptr(),
            constants,
            cells,
            slot,
            stitched: null(),
            max_stack: proto.max_stack,
            num_params: proto.num_params,
            is_vararg: proto.is_vararg,
            entries: 0,
            misses_left: st.miss_step,
            miss_step: st.miss_step,
            fields,
            globals,
            callees,
            sites,
            children,
            proto_bytes: proto.bytes(),
            proto,
            counts,
            handlers: null_mut(),
        });
        st.adopt(this.cast(), (*this).bytes());
        this
    }

    /// Returns the instance of the inner function `i`, after creating it if necessary, or null as
    /// for [`Instance::create`].
    ///
    /// # Safety
    /// `this` is a live instance of `st` with more than `i` inner functions.
    #[inline(always)]
    pub unsafe fn child(st: &mut State, this: *mut Instance, i: usize) -> *mut Instance {
        let c = *(*this).children.add(i);
        if c.is_null() { Instance::make_child(st, this, i) } else { c }
    }

    #[cold]
    unsafe fn make_child(st: &mut State, this: *mut Instance, i: usize) -> *mut Instance {
        let proto = Arc::clone(&(&(*this).proto).protos[i]);
        let c = Instance::create(st, proto, this);
        if c.is_null() || st.heap.has_failed() {
            // For lack of memory, some of the instance's constants may be the wrong strings.
            return null_mut();
        }
        *(*this).children.add(i) = c;
        // From now on the child's instance counts its proto.
        let moved = (*c).proto_bytes;
        (*this).proto_bytes -= moved;
        st.heap.note_external(-(moved as isize));
        st.barrier(this.cast());
        c
    }

    /// Returns the constant of `parent` (which may be null) that equals this string, if the string
    /// is long. Short strings are interned, so equal ones are the same object anyway.
    unsafe fn long_string(parent: *mut Instance, bytes: &[u8]) -> Option<Value> {
        if bytes.len() <= MAX_SHORT || parent.is_null() {
            return None;
        }
        let is_same = |v: &Value| v.is_string() && LuaString::bytes(v.as_string()) == bytes;
        (*parent).constants().iter().copied().find(is_same)
    }
}
