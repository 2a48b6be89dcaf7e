//! The data of a proto in one state: constants as objects of its heap, inline caches, feedback,
//! counters.

mod create;
mod handler;
mod text;

use std::ops::{Deref, DerefMut};
use std::ptr::{drop_in_place, null_mut, slice_from_raw_parts_mut};
use std::slice::from_raw_parts;
use std::sync::Arc;
use std::sync::atomic::AtomicPtr;

use perilune_bytecode::{Instr, Proto, RecordCounts};

use crate::engine::RESERVED_IDS;
use crate::epoch::MetaEpoch;
use crate::header::GcHeader;
use crate::heap::Memory;
use crate::string::LuaString;
use crate::table::{Cell, LocalShape, Table};
use crate::value::{Tag, Value};

/// The data of a proto in one state. It is allocated outside the blocks, and freed when no closure
/// and no parent's instance refers to it.
///
/// Its arrays follow it in the same allocation, since many programs create many instances.
#[repr(C)]
pub struct Instance {
    /// Header.
    pub header: GcHeader,
    /// The instructions of `proto`.
    pub code: *const Instr,
    /// Constants; strings among them are objects of this state.
    pub constants: *const Value,
    /// One feedback cell per instruction word; see [`perilune_bytecode::Feedback`].
    pub cells: *mut u32,
    /// The slot through which the method is entered.
    pub slot: *const AtomicPtr<u8>,
    /// The stitched code of the function, or null: see [`crate::tier::stitched`].
    pub stitched: *const u32,
    /// Number of registers of a frame.
    pub max_stack: u8,
    /// Number of named parameters.
    pub num_params: u8,
    /// Whether the function takes extra arguments.
    pub is_vararg: bool,
    /// Number of entries so far, wrapping. It is a hint for the compiler, on which correctness does
    /// not depend.
    pub entries: u32,
    /// The number of calls that compiled code may still make to the runtime for cases for which it
    /// was not compiled, before the compiler is notified.
    pub misses_left: u32,
    /// The value from which `misses_left` counts down.
    pub miss_step: u32,
    /// Inline caches of fields.
    pub fields: *mut FieldCache,
    /// Inline caches of globals.
    pub globals: *mut GlobalCache,
    /// Inline caches of callees.
    pub callees: *mut CalleeCache,
    /// Records of allocation sites.
    pub sites: *mut Site,
    /// Instances of the inner functions; null until first needed.
    pub children: *mut *mut Instance,
    /// The function's code and description.
    pub proto: Arc<Proto>,
    /// Size in bytes of the proto and of those inner functions that have no instance and are
    /// therefore counted only here.
    pub proto_bytes: usize,
    /// Lengths of those arrays whose lengths the proto does not store.
    pub counts: RecordCounts,
    /// The records of metamethods, one for each instruction; null until the first one is called.
    pub handlers: *mut Option<Box<HandlerCache>>,
}

/// Offsets in bytes of the arrays in the allocation of an instance. They depend on the proto alone,
/// so machine code addresses the arrays relative to the instance.
pub struct Places {
    /// [`Instance::constants`]
    pub constants: usize,
    /// [`Instance::fields`]
    pub fields: usize,
    /// [`Instance::globals`]
    pub globals: usize,
    /// [`Instance::callees`]
    pub callees: usize,
    /// [`Instance::children`]
    pub children: usize,
    cells: usize,
    /// [`Instance::sites`]
    pub sites: usize,
    size: usize,
}

impl Places {
    /// Returns the offsets for instances of `proto`.
    pub fn in_instances_of(proto: &Proto) -> Places {
        Places::of(proto, RecordCounts::of(&proto.code))
    }

    fn of(proto: &Proto, counts: RecordCounts) -> Places {
        // No sum overflows: the proto itself is in memory, and each of its instructions has at most
        // one record.
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
        let sites = place(size_of::<Site>(), align_of::<Site>(), counts.sites as usize);
        Places { constants, fields, globals, callees, children, cells, sites, size: end }
    }
}

// The arrays are aligned within an allocation that is aligned for an instance.
const _: () = assert!(
    align_of::<Value>() <= align_of::<Instance>()
        && align_of::<FieldCache>() <= align_of::<Instance>()
        && align_of::<GlobalCache>() <= align_of::<Instance>()
        && align_of::<CalleeCache>() <= align_of::<Instance>()
        && align_of::<Site>() <= align_of::<Instance>()
);

/// The inline cache of a field access: one entry, and more entries once the access has turned out
/// to be polymorphic.
#[repr(C)]
pub struct FieldCache {
    /// The first entry.
    pub first: FieldEntry,
    /// Further entries, tried in order.
    pub more: Option<Box<FurtherEntries>>,
    /// Number of misses so far, saturating. It shows how polymorphic the access is.
    pub misses: u32,
    /// Whether tables in dictionary mode were accessed; there are no entries for them.
    pub dictionaries: bool,
}

/// The entries of a polymorphic cache besides the first.
#[repr(C)]
pub struct FurtherEntries {
    /// The entries.
    pub entries: [FieldEntry; FieldCache::MORE],
    /// The name of the field, a constant of the instance.
    pub name: *mut LuaString,
    /// The metatable words of entries that [`FieldCache::renew`] has replaced with entries for
    /// similar classes.
    pub(crate) replaced: [usize; FurtherEntries::REPLACED],
    /// The number of entries that were replaced in this way.
    pub(crate) replacements: u32,
    /// For each entry of the cache, that number when the entry was recorded.
    pub(crate) recorded: [u32; 1 + FieldCache::MORE],
}

impl FurtherEntries {
    /// The number of replaced entries that are remembered, a power of two.
    pub(crate) const REPLACED: usize = 8;

    /// Creates unused entries.
    pub(crate) fn new(name: *mut LuaString) -> Box<FurtherEntries> {
        Box::new(FurtherEntries {
            entries: [FieldEntry::EMPTY; FieldCache::MORE],
            name,
            replaced: [0; FurtherEntries::REPLACED],
            replacements: 0,
            recorded: [0; 1 + FieldCache::MORE],
        })
    }
}

impl Deref for FurtherEntries {
    type Target = [FieldEntry];
    fn deref(&self) -> &[FieldEntry] {
        &self.entries
    }
}

impl DerefMut for FurtherEntries {
    fn deref_mut(&mut self) -> &mut [FieldEntry] {
        &mut self.entries
    }
}

/// An entry of a field's inline cache.
///
/// An own entry has `own_shape`, and a chain entry `chain_shape`; the other is
/// [`FieldEntry::NO_SHAPE`], which no table has.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct FieldEntry {
    /// Tables of this shape have the field themselves, in `slot`.
    pub own_shape: u32,
    /// The slot in the table or in the holder.
    pub slot: u32,
    /// Tables of this shape do not have the field. Those with the metatable word `meta` find it in
    /// `holder` (null: the field is absent, and the result is nil) or, for a store, gain it by the
    /// transition to the shape `outcome`.
    pub chain_shape: u32,
    /// The shape id of `holder`, which is compared as well; 0 if the holder is in dictionary mode,
    /// in which case `slot` is the index of a node. In an own entry with a holder, which has the
    /// field for tables whose slot is nil: the slot in the holder plus 1.
    pub holder_shape: u32,
    /// The state's [`MetaEpoch`] for which `holder` is valid.
    pub epoch: MetaEpoch,
    /// The metatable word that is compared.
    pub meta: usize,
    /// The table of the chain that has the field, in its `slot`.
    pub holder: *mut Table,
    /// In an entry for stores, which has no holder: the [`LocalShape`] after the field was added.
    /// In a chain entry for loads: the `LuaClosure` in the holder's field, or null if the value is
    /// not one; in an entry for strings, in the same way the `NativeClosure`. It is valid under the
    /// same conditions as the holder.
    pub outcome: *mut GcHeader,
}

impl FieldEntry {
    /// A shape id that no table has.
    pub const NO_SHAPE: u32 = RESERVED_IDS.start + 2;
    /// The `chain_shape` of an entry for strings. No table has this id either; `meta` is the
    /// metatable of strings.
    pub const STRING_SHAPE: u32 = RESERVED_IDS.start + 1;
    /// The `chain_shape` of an entry for userdata. No table has this id either; `meta` is their
    /// metatable.
    pub const USERDATA_SHAPE: u32 = RESERVED_IDS.start;
    /// The shape id of tables in dictionary mode, for which there are no entries.
    pub const DICTIONARY_SHAPE: u32 = 0;
    /// An entry that matches nothing.
    pub const EMPTY: FieldEntry = FieldEntry {
        own_shape: FieldEntry::NO_SHAPE,
        slot: 0,
        chain_shape: FieldEntry::NO_SHAPE,
        holder_shape: 0,
        epoch: MetaEpoch::NEVER,
        meta: 0,
        holder: std::ptr::null_mut(),
        outcome: std::ptr::null_mut(),
    };
}

/// The meaning of an entry of a field's inline cache, decoded from its sentinels and null pointers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EntryKind {
    /// Nothing was recorded.
    Unused,
    /// Tables of this shape have the field themselves.
    Own(u32),
    /// Tables of this shape, with the entry's metatable, do not have the field, nor does their
    /// chain.
    Absent(u32),
    /// Tables of this shape, with the entry's metatable, find the field in the holder.
    Chain(u32),
    /// A store adds the field to tables of this shape.
    Gain(u32),
    /// Strings find the field in the holder.
    Strings,
    /// Userdata with the entry's metatable find the field in the holder.
    Userdata,
}

impl FieldCache {
    /// Forgets a part of the misses, so that an access does not stay megamorphic forever, and the
    /// metatables of replaced entries, whose memory may be used again. Called in each cycle of the
    /// collector.
    pub(crate) fn age(&mut self) {
        let misses = self.misses.min(2 * FieldCache::MEGAMORPHIC);
        self.misses = misses - misses / 4;
        if let Some(more) = &mut self.more {
            more.replaced = [0; FurtherEntries::REPLACED];
        }
    }

    /// Returns the entries, in use or not.
    pub fn entries(&self) -> impl Iterator<Item = &FieldEntry> {
        let more = self.more.as_deref().map_or(&[][..], |more| &more[..]);
        std::iter::once(&self.first).chain(more)
    }
}

impl FieldEntry {
    /// Returns the meaning of the entry.
    pub fn kind(&self) -> EntryKind {
        if self.own_shape != FieldEntry::NO_SHAPE {
            return EntryKind::Own(self.own_shape);
        }
        match self.chain_shape {
            FieldEntry::NO_SHAPE => EntryKind::Unused,
            FieldEntry::STRING_SHAPE => EntryKind::Strings,
            FieldEntry::USERDATA_SHAPE => EntryKind::Userdata,
            shape if !self.holder.is_null() => EntryKind::Chain(shape),
            shape if !self.outcome.is_null() => EntryKind::Gain(shape),
            shape => EntryKind::Absent(shape),
        }
    }

    /// Returns whether the holder is in dictionary mode, so that `slot` is the index of a node.
    pub fn holder_is_dictionary(&self) -> bool {
        self.holder_shape == 0
    }
}

/// The inline cache of a global: the environment table in which it was found, and the cell.
#[repr(C)]
pub struct GlobalCache {
    /// The environment; null when nothing is cached.
    pub env: *mut Table,
    /// The cell of the name in the environment.
    pub cell: *mut Cell,
}

impl GlobalCache {
    /// The cache before the first access.
    pub const EMPTY: GlobalCache = GlobalCache { env: null_mut(), cell: null_mut() };

    /// Returns whether the environment inherits the global from another one.
    ///
    /// # Safety
    /// The cache is in use.
    pub unsafe fn is_inherited(&self) -> bool {
        !self.cell.is_null() && (*self.cell).owner != self.env
    }

    /// Returns whether the value of the global has changed since it was defined; `None` if no
    /// global was found.
    ///
    /// # Safety
    /// The cache is in use.
    pub unsafe fn has_changed(&self) -> Option<bool> {
        (!self.cell.is_null()).then(|| (*self.cell).header.aux == Cell::CHANGED)
    }
}

/// The inline cache of a call site: the first callee, which is the instance of a Lua function or a
/// native function, and the number of calls of other callees.
#[repr(C)]
pub struct CalleeCache {
    /// The address of the first callee's [`Instance`], or
    /// [`NativeClosure::callee`](crate::closure::NativeClosure::callee); 0 before the first call.
    pub callee: usize,
    /// Number of calls of other callees, saturating.
    pub others: u32,
}

impl CalleeCache {
    /// Stands for a callee that is not a function, or whose instance has died.
    pub const OTHER: usize = 1;
    /// The bit that marks native functions; no address has it.
    pub const NATIVE: usize = 1 << (usize::BITS - 1);

    /// Returns the instance of the first callee, if that is a Lua function. It is alive: the
    /// collector clears the caches of live instances that refer to dead ones.
    pub fn instance(&self) -> Option<*mut Instance> {
        match self.callee {
            0 | CalleeCache::OTHER => None,
            native if native & CalleeCache::NATIVE != 0 => None,
            address => Some(std::ptr::with_exposed_provenance_mut(address)),
        }
    }
}

/// The record of an instruction that has called a metamethod: the first metamethod, if it is a Lua
/// function from the metatable of a table, and the number of other calls.
#[repr(C)]
pub struct HandlerCache {
    /// The metatable word, the epoch for which the metamethod is valid, and the metamethod as the
    /// outcome. For a field access also the shape of the table, which does not have the field; if
    /// there were several, [`FieldEntry::NO_SHAPE`]. Nothing else is used.
    pub entry: FieldEntry,
    /// The tag of the first operand, which is not a table if the metamethod is that of the second.
    pub first: Tag,
    /// Number of calls of other metamethods, saturating.
    pub others: u32,
    /// The metatable word before the one of the entry, or 0. It is only compared: that metatable
    /// may be dead.
    pub previous: usize,
}

/// A metamethod that an instruction calls.
pub struct Handled {
    /// The tag of the instruction's first operand.
    pub first: Tag,
    /// The shape of the table, for a field access; otherwise [`FieldEntry::NO_SHAPE`].
    pub shape: u32,
    /// The operand that has the metamethod.
    pub receiver: Value,
    /// The metamethod.
    pub function: Value,
}

/// The record that an instance keeps for a NEWTABLE instruction.
#[repr(C)]
pub struct Site {
    /// The shape of the tables that the instruction creates, which have the fields that the
    /// constructor names. Null until the first table is created.
    pub shape: *mut LocalShape,
}

impl Instance {
    /// Frees an instance.
    ///
    /// # Safety
    /// `this` was created by [`Instance::create`], and nothing refers to it any more.
    pub(crate) unsafe fn free(memory: &mut Memory, this: *mut Instance) {
        let size = Places::of(&(*this).proto, (*this).counts).size;
        drop_in_place(slice_from_raw_parts_mut((*this).fields, (*this).counts.fields as usize));
        (*this).free_handlers();
        drop_in_place(this);
        memory.free(this.cast(), size);
    }

    /// Returns the constants.
    pub fn constants(&self) -> &[Value] {
        // SAFETY: this is the array that `create` filled, and nothing writes to it.
        unsafe { from_raw_parts(self.constants, self.proto.constants.len()) }
    }

    /// Returns the instances of the inner functions.
    pub fn children(&self) -> &[*mut Instance] {
        // SAFETY: this is the array that `create` filled; only `make_child` writes to it, and holds
        // no slice of it.
        unsafe { from_raw_parts(self.children, self.proto.protos.len()) }
    }

    /// Returns the feedback cells with their current contents.
    ///
    /// # Safety
    /// No code of the state runs while the slice is in use.
    pub unsafe fn cells(&self) -> &[u32] {
        from_raw_parts(self.cells, self.proto.code.len())
    }

    /// Returns the inline caches of fields with their current contents.
    ///
    /// # Safety
    /// As for [`Instance::cells`].
    pub unsafe fn field_caches(&self) -> &[FieldCache] {
        from_raw_parts(self.fields, self.counts.fields as usize)
    }

    /// Returns the inline caches of globals with their current contents.
    ///
    /// # Safety
    /// As for [`Instance::cells`].
    pub unsafe fn global_caches(&self) -> &[GlobalCache] {
        from_raw_parts(self.globals, self.counts.globals as usize)
    }

    /// Returns the records of allocation sites with their current contents.
    ///
    /// # Safety
    /// As for [`Instance::cells`].
    pub unsafe fn sites(&self) -> &[Site] {
        from_raw_parts(self.sites, self.counts.sites as usize)
    }

    /// Returns the inline caches of callees with their current contents.
    ///
    /// # Safety
    /// As for [`Instance::cells`].
    pub unsafe fn callee_caches(&self) -> &[CalleeCache] {
        from_raw_parts(self.callees, self.counts.callees as usize)
    }

    /// Returns approximately how many bytes the instance keeps alive.
    pub fn bytes(&self) -> usize {
        Places::of(&self.proto, self.counts).size + self.proto_bytes + self.bytes_of_handlers()
    }

    /// Returns [`Instance::bytes`] of an instance of `proto`.
    pub fn bytes_for(proto: &Proto) -> usize {
        Places::of(proto, RecordCounts::of(&proto.code)).size + proto.bytes()
    }
}
