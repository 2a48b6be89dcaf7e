//! What one state keeps for a proto: constants as objects of its heap, inline caches, feedback, counters.

use std::sync::Arc;

use perilune_bytecode::{Instr, Proto};

use crate::header::GcHeader;
use crate::string::LuaString;
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
    /// Registers of a frame.
    pub max_stack: u8,
    /// Named parameters.
    pub num_params: u8,
    /// Takes extra arguments.
    pub is_vararg: bool,
    /// Entries so far, saturating.
    pub entries: u32,
    /// Loop back-edges so far, saturating.
    pub back_edges: u32,
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

/// The memory behind an [`Instance`]'s pointers.
pub struct Storage {
    /// `constants`
    pub constants: Box<[Value]>,
    /// `cells`
    pub cells: Box<[u32]>,
    /// `fields`
    pub fields: Box<[FieldCache]>,
    /// `globals`
    pub globals: Box<[GlobalCache]>,
    /// `callees`
    pub callees: Box<[CalleeCache]>,
    /// `sites`
    pub sites: Box<[SiteFeedback]>,
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
    /// Address of the first callee's [`Instance`] or native function; compared, never followed. 0: none yet.
    pub callee: usize,
    /// Calls of another callee, saturating.
    pub others: u32,
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

/// The name of a field instruction's key is constant `C` or `B` of the instruction; this helper type keeps the two apart
/// in signatures.
#[derive(Clone, Copy)]
pub struct FieldName(pub *mut LuaString);
