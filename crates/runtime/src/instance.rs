//! What one state keeps for a proto: constants as objects of its heap, inline caches, feedback, counters.

use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::AtomicPtr;

use perilune_bytecode::{Constant, Feedback, Instr, LocalDesc, Proto, UpvalDesc};

use crate::header::{GcHeader, Kind};
use crate::state::State;
use crate::string::{LuaString, MAX_SHORT};
use crate::table::{Cell, LocalShape, Table};
use crate::value::Value;

/// A proto in one state. Boxed outside the blocks; dropped when the last closure (or the parent's instance) is gone.
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
    /// Entries so far, saturating.
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
    /// The code.
    pub proto: Arc<Proto>,
    /// Instances of the functions defined inside; null until first needed.
    pub children: Box<[*mut Instance]>,
    /// Owners of the memory that the pointers above point at.
    pub storage: Storage,
}

/// An array that is owned through a bare pointer: unlike a box it may be moved while other pointers into it are in use.
pub struct Owned<T>(*mut [T]);

impl<T> Owned<T> {
    /// The elements.
    pub fn as_mut_ptr(&self) -> *mut T {
        self.0.cast()
    }
}

impl<T> From<Box<[T]>> for Owned<T> {
    fn from(items: Box<[T]>) -> Owned<T> {
        Owned(Box::into_raw(items))
    }
}

impl<T> FromIterator<T> for Owned<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Owned<T> {
        items.into_iter().collect::<Box<[T]>>().into()
    }
}

impl<T> std::ops::Deref for Owned<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: it came from a box, and whoever writes through the pointers does so while nobody holds this slice (one thread,
        // and the users of this are the collector and the making of instances).
        unsafe { &*self.0 }
    }
}

impl<T> Drop for Owned<T> {
    fn drop(&mut self) {
        // SAFETY: it came from a box and is dropped once.
        drop(unsafe { Box::from_raw(self.0) });
    }
}

/// The memory behind an [`Instance`]'s pointers.
pub struct Storage {
    /// Bytes of the proto and of the functions inside it that have no instance of their own: nobody else counts them.
    pub proto_bytes: usize,
    /// `constants`
    pub constants: Owned<Value>,
    /// `cells`
    pub cells: Owned<u32>,
    /// `fields`
    pub fields: Owned<FieldCache>,
    /// `globals`
    pub globals: Owned<GlobalCache>,
    /// `callees`
    pub callees: Owned<CalleeCache>,
    /// `sites`
    pub sites: Owned<SiteFeedback>,
}

/// Inline cache of a field access: one entry, and more once it was seen to be polymorphic.
#[repr(C)]
pub struct FieldCache {
    /// The first entry.
    pub first: FieldEntry,
    /// Further entries, tried in order.
    pub more: Option<Box<[FieldEntry; 3]>>,
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
    /// Value of the state's `meta_epoch` for which `holder` is right.
    pub epoch: u32,
    /// The metatable word compared.
    pub meta: usize,
    /// Table of the chain that has the field in `slot` of its fields.
    pub holder: *mut Table,
    /// Shape id of `holder`, compared too; 0: the holder is a dictionary and `slot` a node number.
    pub holder_shape: u32,
    /// For stores: the shape after the field was added.
    pub successor: *mut LocalShape,
}

impl FieldEntry {
    /// A shape id that no table has.
    pub const NO_SHAPE: u32 = u32::MAX;
    /// `chain_shape` of an entry for strings, which no table has either: `meta` is the metatable of strings.
    pub const STRING_SHAPE: u32 = u32::MAX - 1;
    /// An entry that matches nothing.
    pub const EMPTY: FieldEntry = FieldEntry {
        own_shape: FieldEntry::NO_SHAPE,
        slot: 0,
        chain_shape: FieldEntry::NO_SHAPE,
        epoch: 0,
        meta: 0,
        holder: std::ptr::null_mut(),
        holder_shape: 0,
        successor: std::ptr::null_mut(),
    };
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

/// About how much memory a proto and all functions inside it take.
fn proto_bytes(proto: &Proto) -> usize {
    /// A small allocation with its overhead: a name.
    const NAME: usize = 32;
    size_of::<Proto>()
        + proto.code.len() * 4
        + proto.lines.len() * 4
        + proto.constants.len() * (size_of::<Constant>() + NAME)
        + proto.upvalues.len() * (size_of::<UpvalDesc>() + NAME)
        + proto.locals.len() * (size_of::<LocalDesc>() + NAME)
        + proto.protos.iter().map(|inner| proto_bytes(inner)).sum::<usize>()
}

impl Instance {
    /// The instance of `proto` in `st` (`parent`: that of the function it is defined in, or null), not yet seen by the collector's roots: the caller puts it into a closure or its parent.
    ///
    /// # Safety
    /// `st` is live.
    pub unsafe fn create(
        st: &mut State,
        proto: &Arc<Proto>,
        parent: *mut Instance,
    ) -> *mut Instance {
        // a long string that the parent has too is the same object
        let shared = |s: &[u8]| {
            if s.len() <= MAX_SHORT || parent.is_null() {
                return None;
            }
            let values: &[Value] = &(&(*parent).storage).constants;
            values.iter().copied().find(|v| v.is_string() && LuaString::bytes(v.as_string()) == s)
        };
        let constants: Owned<Value> = proto
            .constants
            .iter()
            .map(|c| match c {
                Constant::Nil => Value::NIL,
                Constant::Bool(b) => Value::bool(*b),
                Constant::Integer(i) => Value::int(*i),
                Constant::Float(f) => Value::float(*f),
                Constant::Str(s) => shared(s).unwrap_or_else(|| Value::string(st.intern(s))),
            })
            .collect();
        let mut cells = vec![0u32; proto.code.len()].into_boxed_slice();
        let (mut fields, mut globals, mut callees, mut sites) = (0u32, 0u32, 0u32, 0u32);
        for (cell, i) in cells.iter_mut().zip(proto.code.iter()) {
            let next = match i.op().feedback() {
                Feedback::Field => &mut fields,
                Feedback::Global => &mut globals,
                Feedback::Callee => &mut callees,
                Feedback::Site => &mut sites,
                _ => continue,
            };
            *cell = *next;
            *next += 1;
        }
        let field = || FieldCache { first: FieldEntry::EMPTY, more: None, misses: 0 };
        let global = || GlobalCache { env: null_mut(), cell: null_mut() };
        let callee = || CalleeCache { callee: 0, others: 0 };
        let site = || SiteFeedback { fields: 0, array_kinds: 0, array: 0 };
        let storage = Storage {
            proto_bytes: proto_bytes(proto),
            constants,
            cells: cells.into(),
            fields: (0..fields).map(|_| field()).collect(),
            globals: (0..globals).map(|_| global()).collect(),
            callees: (0..callees).map(|_| callee()).collect(),
            sites: (0..sites).map(|_| site()).collect(),
        };
        let slot = match &mut st.tier {
            Some(tier) => tier.slot(proto),
            None => st.vm.idle_slot,
        };
        let this = Box::into_raw(Box::new(Instance {
            header: GcHeader { kind: Kind::Instance, mark: 0, flags: 0, aux: 0, word: 0 },
            code: proto.code.as_ptr(),
            constants: storage.constants.as_mut_ptr(),
            cells: storage.cells.as_mut_ptr(),
            slot,
            max_stack: proto.max_stack,
            num_params: proto.num_params,
            is_vararg: proto.is_vararg,
            entries: 0,
            misses_left: st.miss_step,
            miss_step: st.miss_step,
            fields: storage.fields.as_mut_ptr(),
            globals: storage.globals.as_mut_ptr(),
            callees: storage.callees.as_mut_ptr(),
            sites: storage.sites.as_mut_ptr(),
            proto: proto.clone(),
            children: vec![null_mut(); proto.protos.len()].into_boxed_slice(),
            storage,
        }));
        st.adopt(this.cast(), (*this).bytes());
        this
    }

    /// About how much memory it keeps alive.
    pub fn bytes(&self) -> usize {
        let s = &self.storage;
        size_of::<Instance>()
            + s.proto_bytes
            + s.constants.len() * size_of::<Value>()
            + s.cells.len() * 4
            + s.fields.len() * size_of::<FieldCache>()
            + s.globals.len() * size_of::<GlobalCache>()
            + s.callees.len() * size_of::<CalleeCache>()
    }

    /// The instance of the function `i` defined inside.
    ///
    /// # Safety
    /// `this` is a live instance of `st` with more than `i` inner functions.
    #[inline(always)]
    pub unsafe fn child(st: &mut State, this: *mut Instance, i: usize) -> *mut Instance {
        let c = *(*this).children.as_ptr().add(i);
        if c.is_null() { Instance::make_child(st, this, i) } else { c }
    }

    #[cold]
    unsafe fn make_child(st: &mut State, this: *mut Instance, i: usize) -> *mut Instance {
        let proto = (&(*this).proto).protos[i].clone();
        let c = Instance::create(st, &proto, this);
        (&mut (*this).children)[i] = c;
        // From now on the child counts its proto.
        let moved = (&(*c).storage).proto_bytes;
        (&mut (*this).storage).proto_bytes -= moved;
        st.heap.note_external(-(moved as isize));
        st.barrier(this.cast());
        c
    }
}
