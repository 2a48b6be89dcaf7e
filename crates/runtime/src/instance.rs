//! What one state keeps for a proto: constants as objects of its heap, inline caches, feedback, counters.

use std::ptr::{drop_in_place, null_mut, slice_from_raw_parts_mut};
use std::slice::from_raw_parts;
use std::sync::Arc;
use std::sync::atomic::AtomicPtr;

use perilune_bytecode::{Constant, Instr, Proto, RecordCounts};

use crate::engine::RESERVED_IDS;
use crate::epoch::MetaEpoch;
use crate::header::{GcHeader, Kind};
use crate::heap::Memory;
use crate::state::State;
use crate::string::{LuaString, MAX_SHORT};
use crate::table::{Cell, LocalShape, Table};
use crate::value::Value;

/// A proto in one state. Allocated outside the blocks; freed when the last closure (or the parent's instance) is gone.
///
/// Its arrays lie behind it in the same allocation, as many programs make many instances.
#[repr(C)]
pub struct Instance {
    /// Header.
    pub header: GcHeader,
    /// The instructions of `proto`.
    pub code: *const Instr,
    /// Constants; strings are objects of this state.
    pub constants: *const Value,
    /// One feedback cell per instruction word; see [`perilune_bytecode::Feedback`].
    pub cells: *mut u32,
    /// The slot that the method is entered by.
    pub slot: *const AtomicPtr<u8>,
    /// Registers of a frame.
    pub max_stack: u8,
    /// Named parameters.
    pub num_params: u8,
    /// Takes extra arguments.
    pub is_vararg: bool,
    /// Entries so far, wrapping: a hint for the compiler, which nothing relies on.
    pub entries: u32,
    /// Calls of the runtime, by compiled code that met what it was not compiled for, until the compiler is told.
    pub misses_left: u32,
    /// What that began with the last time.
    pub miss_step: u32,
    /// Inline caches of fields.
    pub fields: *mut FieldCache,
    /// Inline caches of globals.
    pub globals: *mut GlobalCache,
    /// Callees seen.
    pub callees: *mut CalleeCache,
    /// Allocation sites.
    pub sites: *mut SiteFeedback,
    /// Instances of the functions defined inside; null until first needed.
    pub children: *mut *mut Instance,
    /// The code.
    pub proto: Arc<Proto>,
    /// Bytes of the proto and of the functions inside it that have no instance of their own: nobody else counts them.
    pub proto_bytes: usize,
    /// Lengths of the arrays that the proto does not tell.
    pub counts: RecordCounts,
}

/// Where the arrays of an instance are in its allocation, in bytes. The proto alone tells, so machine code addresses them relative to the instance.
pub struct Places {
    /// [`Instance::constants`]
    pub constants: usize,
    /// [`Instance::fields`]
    pub fields: usize,
    /// [`Instance::globals`]
    pub globals: usize,
    callees: usize,
    /// [`Instance::children`]
    pub children: usize,
    cells: usize,
    sites: usize,
    size: usize,
}

impl Places {
    /// Of the instances of `proto`.
    pub fn in_instances_of(proto: &Proto) -> Places {
        Places::of(proto, RecordCounts::of(&proto.code))
    }

    fn of(proto: &Proto, counts: RecordCounts) -> Places {
        // No sum overflows: the proto itself is in memory, and each of its instructions has at most one record.
        let mut end = size_of::<Instance>();
        let mut place = |size: usize, align: usize, n: usize| {
            let start = end.next_multiple_of(align);
            end = start + size * n;
            start
        };
        let constants = place(size_of::<Value>(), align_of::<Value>(), proto.constants.len());
        let fields =
            place(size_of::<FieldCache>(), align_of::<FieldCache>(), counts.fields as usize);
        let globals =
            place(size_of::<GlobalCache>(), align_of::<GlobalCache>(), counts.globals as usize);
        let callees =
            place(size_of::<CalleeCache>(), align_of::<CalleeCache>(), counts.callees as usize);
        let children =
            place(size_of::<*mut Instance>(), align_of::<*mut Instance>(), proto.protos.len());
        let cells = place(size_of::<u32>(), align_of::<u32>(), proto.code.len());
        let sites =
            place(size_of::<SiteFeedback>(), align_of::<SiteFeedback>(), counts.sites as usize);
        Places { constants, fields, globals, callees, children, cells, sites, size: end }
    }
}

// The arrays are aligned within an allocation that is aligned for an instance.
const _: () = assert!(
    align_of::<Value>() <= align_of::<Instance>()
        && align_of::<FieldCache>() <= align_of::<Instance>()
        && align_of::<GlobalCache>() <= align_of::<Instance>()
        && align_of::<CalleeCache>() <= align_of::<Instance>()
);

/// Inline cache of a field access: one entry, and more once it was seen to be polymorphic.
#[repr(C)]
pub struct FieldCache {
    /// The first entry.
    pub first: FieldEntry,
    /// Further entries, tried in order.
    pub more: Option<Box<[FieldEntry; FieldCache::MORE]>>,
    /// Misses so far, saturating: how polymorphic the site is.
    pub misses: u32,
}

/// One entry of a field's inline cache.
///
/// An own entry has `own_shape`, a chain entry `chain_shape`; the other is [`FieldEntry::NO_SHAPE`], which no table has.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct FieldEntry {
    /// Tables of this shape have the field themselves, in `slot`.
    pub own_shape: u32,
    /// Slot in the table or in the holder.
    pub slot: u32,
    /// Tables of this shape do not have the field, and, with the metatable word `meta`, find it in `holder`
    /// (null: nowhere, the result is nil); or, in a store, gain it by the transition to `successor`.
    pub chain_shape: u32,
    /// Shape id of `holder`, compared too; 0: the holder is a dictionary and `slot` a node number.
    pub holder_shape: u32,
    /// Value of the state's [`MetaEpoch`] for which `holder` is right.
    pub epoch: MetaEpoch,
    /// The metatable word compared.
    pub meta: usize,
    /// Table of the chain that has the field in `slot` of its fields.
    pub holder: *mut Table,
    /// For stores: the shape after the field was added.
    pub successor: *mut LocalShape,
}

impl FieldEntry {
    /// A shape id that no table has.
    pub const NO_SHAPE: u32 = RESERVED_IDS.start + 2;
    /// `chain_shape` of an entry for strings, which no table has either: `meta` is the metatable
    /// of strings.
    pub const STRING_SHAPE: u32 = RESERVED_IDS.start + 1;
    /// `chain_shape` of an entry for userdata, likewise: `meta` is their metatable.
    pub const USERDATA_SHAPE: u32 = RESERVED_IDS.start;
    /// An entry that matches nothing.
    pub const EMPTY: FieldEntry = FieldEntry {
        own_shape: FieldEntry::NO_SHAPE,
        slot: 0,
        chain_shape: FieldEntry::NO_SHAPE,
        holder_shape: 0,
        epoch: MetaEpoch::NEVER,
        meta: 0,
        holder: std::ptr::null_mut(),
        successor: std::ptr::null_mut(),
    };
}

/// What an entry of a field's inline cache says, taken from its sentinels and null pointers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EntryKind {
    /// Nothing was recorded.
    Unused,
    /// Tables of this shape have the field themselves.
    Own(u32),
    /// Tables of this shape, with the entry's metatable, do not have it, nor does their chain.
    Absent(u32),
    /// Tables of this shape, with the entry's metatable, find it in the holder.
    Chain(u32),
    /// A store gives tables of this shape the field.
    Gain(u32),
    /// Strings find it in the holder.
    Strings,
    /// Userdata with the entry's metatable find it in the holder.
    Userdata,
}

impl FieldEntry {
    /// Returns what the entry says.
    pub fn kind(&self) -> EntryKind {
        if self.own_shape != FieldEntry::NO_SHAPE {
            return EntryKind::Own(self.own_shape);
        }
        match self.chain_shape {
            FieldEntry::NO_SHAPE => EntryKind::Unused,
            FieldEntry::STRING_SHAPE => EntryKind::Strings,
            FieldEntry::USERDATA_SHAPE => EntryKind::Userdata,
            shape if !self.successor.is_null() => EntryKind::Gain(shape),
            shape if self.holder.is_null() => EntryKind::Absent(shape),
            shape => EntryKind::Chain(shape),
        }
    }

    /// Returns whether the holder is a dictionary, so that `slot` is the number of a node.
    pub fn holder_is_dictionary(&self) -> bool {
        self.holder_shape == 0
    }
}

/// Inline cache of a global: the environment table it was found in, and the cell.
#[repr(C)]
pub struct GlobalCache {
    /// The environment; null when nothing is cached.
    pub env: *mut Table,
    /// The cell of the name in it.
    pub cell: *mut Cell,
}

/// What a call site called: the callee's instance (Lua) or native function, the first one seen, and how often something else came.
#[repr(C)]
pub struct CalleeCache {
    /// Address of the first callee's [`Instance`], or that of a native function with [`CalleeCache::NATIVE`]; compared, never followed. 0: none yet.
    pub callee: usize,
    /// Calls of another callee, saturating.
    pub others: u32,
}

impl CalleeCache {
    /// Stands for what is no function.
    pub const OTHER: usize = 1;
    /// Set in what stands for a native function: addresses have no such bit.
    pub const NATIVE: usize = 1 << (usize::BITS - 1);
}

/// What the tables made at one place grow to.
#[repr(C)]
pub struct SiteFeedback {
    /// Field slots that a new table gets inline.
    pub fields: u8,
    /// Kinds of array seen (bit per `ArrayKind`).
    pub array_kinds: u8,
    /// Array elements that a new table gets at once.
    pub array: u16,
}

impl Instance {
    /// The instance of `proto` in `st` (`parent`: that of the function it is defined in, or null), not yet seen by the collector's roots: the caller puts it into a closure or its parent.
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
        let this = st.heap.memory.alloc(places.size);
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
        }
        let fields = this.add(places.fields).cast::<FieldCache>();
        for i in 0..counts.fields as usize {
            fields.add(i).write(FieldCache { first: FieldEntry::EMPTY, more: None, misses: 0 });
        }
        let globals = this.add(places.globals).cast::<GlobalCache>();
        for i in 0..counts.globals as usize {
            globals.add(i).write(GlobalCache { env: null_mut(), cell: null_mut() });
        }
        let callees = this.add(places.callees).cast::<CalleeCache>();
        for i in 0..counts.callees as usize {
            callees.add(i).write(CalleeCache { callee: 0, others: 0 });
        }
        let sites = this.add(places.sites).cast::<SiteFeedback>();
        for i in 0..counts.sites as usize {
            sites.add(i).write(SiteFeedback { fields: 0, array_kinds: 0, array: 0 });
        }
        let children = this.add(places.children).cast::<*mut Instance>();
        for i in 0..proto.protos.len() {
            children.add(i).write(null_mut());
        }
        let this = this.cast::<Instance>();
        this.write(Instance {
            header: GcHeader { kind: Kind::Instance, mark: 0, flags: 0, aux: 0, word: 0 },
            code: proto.code.as_ptr(),
            constants,
            cells,
            slot,
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
        });
        st.adopt(this.cast(), (*this).bytes());
        this
    }

    /// The constant of `parent` (may be null) that is this string, if it is a long one: short ones are the same object anyway.
    unsafe fn long_string(parent: *mut Instance, bytes: &[u8]) -> Option<Value> {
        if bytes.len() <= MAX_SHORT || parent.is_null() {
            return None;
        }
        let is_same = |v: &Value| v.is_string() && LuaString::bytes(v.as_string()) == bytes;
        (*parent).constants().iter().copied().find(is_same)
    }

    /// Frees an instance.
    ///
    /// # Safety
    /// `this` was made by [`Instance::create`], and nothing refers to it any more.
    pub(crate) unsafe fn free(memory: &mut Memory, this: *mut Instance) {
        let size = Places::of(&(*this).proto, (*this).counts).size;
        drop_in_place(slice_from_raw_parts_mut((*this).fields, (*this).counts.fields as usize));
        drop_in_place(this);
        memory.free(this.cast(), size);
    }

    /// Constants.
    pub fn constants(&self) -> &[Value] {
        // SAFETY: the array that `create` made; nobody writes to it.
        unsafe { from_raw_parts(self.constants, self.proto.constants.len()) }
    }

    /// Instances of the functions defined inside.
    pub fn children(&self) -> &[*mut Instance] {
        // SAFETY: the array that `create` made; it is written by `make_child` only, which holds no slice of it.
        unsafe { from_raw_parts(self.children, self.proto.protos.len()) }
    }

    /// The feedback cells, as they are now.
    ///
    /// # Safety
    /// No code of the state runs while the slice is in use.
    pub unsafe fn cells(&self) -> &[u32] {
        from_raw_parts(self.cells, self.proto.code.len())
    }

    /// Inline caches of fields, as they are now.
    ///
    /// # Safety
    /// As [`Instance::cells`].
    pub unsafe fn field_caches(&self) -> &[FieldCache] {
        from_raw_parts(self.fields, self.counts.fields as usize)
    }

    /// Inline caches of globals, as they are now.
    ///
    /// # Safety
    /// As [`Instance::cells`].
    pub unsafe fn global_caches(&self) -> &[GlobalCache] {
        from_raw_parts(self.globals, self.counts.globals as usize)
    }

    /// Callees seen, as they are now.
    ///
    /// # Safety
    /// As [`Instance::cells`].
    pub unsafe fn callee_caches(&self) -> &[CalleeCache] {
        from_raw_parts(self.callees, self.counts.callees as usize)
    }

    /// About how much memory it keeps alive.
    pub fn bytes(&self) -> usize {
        Places::of(&self.proto, self.counts).size + self.proto_bytes
    }

    /// [`Instance::bytes`] of an instance of `proto`.
    pub fn bytes_for(proto: &Proto) -> usize {
        Places::of(proto, RecordCounts::of(&proto.code)).size + proto.bytes()
    }

    /// The instance of the function `i` defined inside.
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
        *(*this).children.add(i) = c;
        // From now on the child counts its proto.
        let moved = (*c).proto_bytes;
        (*this).proto_bytes -= moved;
        st.heap.note_external(-(moved as isize));
        st.barrier(this.cast());
        c
    }
}
