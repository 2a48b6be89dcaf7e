//! The copy of feedback that a compile job owns, taken from the state that requested the compile.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use super::inlinee::InlineeSeen;
use cranelift_codegen::entity::EntityRef;
use perilune_runtime::engine::Shape;
use perilune_runtime::instance::{
    CalleeCache, EntryKind, FieldCache, FieldEntry, GlobalCache, Instance,
};
use perilune_runtime::native::Builtin;
use perilune_runtime::state::State;
use perilune_runtime::table::LocalShape;
use perilune_runtime::value::{SlotExt, Tag, Value};

use crate::entity::Pc;

/// The shapes that feedback names. They live as long as code that compares them, so that a later
/// state does not create new shapes for the same fields.
pub(crate) type Shapes = Arc<[Arc<Shape>]>;

/// The slot of a field.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Slot {
    /// Its number.
    pub number: u32,
    /// Whether the slots of all tables of the shape are inline.
    pub is_inline: bool,
}

impl fmt::Display for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let prefix = if self.is_inline { "inline " } else { "" };
        write!(f, "{prefix}{}", self.number)
    }
}

/// An entry of the inline cache of a field. `entry` is its number, for code that reads the entry at
/// run time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FieldPath {
    /// Tables of this shape have the field themselves.
    Own {
        /// The id of the shape.
        shape: u32,
        /// Slot.
        slot: Slot,
        /// The entry that says that the metatables of tables with nil in the slot do not have the
        /// field either.
        absent: Option<usize>,
    },
    /// Neither tables of this shape nor their metatables have the field.
    Absent {
        /// The id of the shape.
        shape: u32,
        /// Entry.
        entry: usize,
    },
    /// Tables of this shape do not have the field; the chain of metatables does.
    Chain {
        /// The id of the shape.
        shape: u32,
        /// Entry.
        entry: usize,
        /// Whether the holder is in dictionary mode.
        dictionary: bool,
        /// Whether the field is a Lua function, which the entry holds.
        method: bool,
    },
    /// A method of strings.
    Method {
        /// Entry.
        entry: usize,
        /// Whether the holder is in dictionary mode.
        dictionary: bool,
        /// Whether the field is a native function, which the entry holds.
        native: bool,
    },
    /// A member of userdata with one metatable.
    Member {
        /// Entry.
        entry: usize,
        /// Whether the holder is in dictionary mode.
        dictionary: bool,
    },
    /// A store adds the field to tables of this shape.
    Gain {
        /// The id of the shape.
        shape: u32,
        /// Slot.
        slot: Slot,
        /// The id of the shape that they have afterwards: `shape` with the field in that slot.
        to: u32,
        /// Entry.
        entry: usize,
        /// Whether tables of this shape have no metatable.
        plain: bool,
    },
}

/// The maximum number of inline paths of a field access. A cache may have more entries.
pub(crate) const MAX_PATHS: usize = 6;

/// The entries of the inline cache of a field.
#[derive(Clone, Default, Debug, PartialEq, Eq)]
pub struct FieldSnapshot {
    /// The entries in use.
    pub paths: Vec<FieldPath>,
    /// Whether the access was executed at all, even if only on values other than tables.
    pub seen: bool,
    /// Whether tables in dictionary mode were accessed.
    pub dictionaries: bool,
    /// Whether the access keeps missing its cache.
    pub megamorphic: bool,
}

/// The callees that a call has had.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CalleeSeen {
    /// No callee: the call was not executed.
    Nothing,
    /// A Lua function.
    Lua,
    /// A native function.
    Native,
    /// The function of the library with this number in [`Builtin`].
    Builtin(u32),
    /// The library's `pcall`.
    PCall,
    /// The library's `ipairs`.
    Ipairs,
    /// The library's `pairs`.
    Pairs,
    /// A Lua function first, and others later.
    LuaFirst,
    /// An object with `__call`. A function that was collected looks the same.
    Object,
    /// More than one function, or any other value.
    Several,
}

/// The metamethod that an instruction has called, a Lua function. The function itself is among the
/// [`Snapshot::inlinees`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HandlerSeen {
    /// The tag of the first operand; if that is not a table, the metamethod is that of the second.
    pub first: Tag,
    /// The shape of the table, for a field access to tables of one shape, which do not have the
    /// field.
    pub shape: Option<u32>,
}

impl Snapshot {
    /// Returns whether the CALL or TAILCALL at `pc` calls the `__call` of an object, and passes the
    /// object as the first argument.
    pub(crate) fn calls_object(&self, pc: u32) -> bool {
        self.handlers.contains_key(&pc)
    }
}

impl FieldSnapshot {
    unsafe fn take(st: *mut State, cache: &FieldCache) -> FieldSnapshot {
        let entries = cache.entries().enumerate();
        let paths = entries.filter_map(|(entry, e)| FieldPath::of(st, e, entry)).collect();
        let (seen, megamorphic) = (cache.misses != 0, cache.is_megamorphic());
        FieldSnapshot { paths, seen, dictionaries: cache.dictionaries, megamorphic }
    }

    /// Returns whether code looks the field up in the caches of the state, if it loads it.
    pub(crate) fn is_megamorphic(&self) -> bool {
        self.megamorphic || self.paths.len() > MAX_PATHS
    }
}

/// The result that an access to a global has found. When feedback is merged, a later variant
/// replaces an earlier one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum GlobalSeen {
    /// Nothing: the access was not executed, or there is no such global.
    Nothing,
    /// A global that has not changed since it was defined.
    Constant,
    /// A global that has changed.
    Changed,
    /// A global that the environment inherits from another table.
    Inherited,
}

impl GlobalSeen {
    unsafe fn of(cache: &GlobalCache) -> GlobalSeen {
        match cache.has_changed() {
            _ if cache.is_inherited() => GlobalSeen::Inherited,
            None => GlobalSeen::Nothing,
            Some(false) => GlobalSeen::Constant,
            Some(true) => GlobalSeen::Changed,
        }
    }
}

impl CalleeSeen {
    fn of(c: &CalleeCache) -> CalleeSeen {
        match c.callee {
            0 => CalleeSeen::Nothing,
            _ if c.others != 0 && c.instance().is_some() => CalleeSeen::LuaFirst,
            _ if c.others != 0 => CalleeSeen::Several,
            CalleeCache::OTHER => CalleeSeen::Object,
            f if f == CalleeCache::NATIVE | Builtin::PCall as usize => CalleeSeen::PCall,
            f if f == CalleeCache::NATIVE | Builtin::Ipairs as usize => CalleeSeen::Ipairs,
            f if f == CalleeCache::NATIVE | Builtin::Pairs as usize => CalleeSeen::Pairs,
            f if f & CalleeCache::NATIVE != 0 => {
                Builtin::of_callee(f).map_or(CalleeSeen::Native, CalleeSeen::Builtin)
            }
            _ => CalleeSeen::Lua,
        }
    }
}

impl FieldPath {
    /// Returns the id of the shape that the entry is for, if it is for a shape.
    pub fn shape(&self) -> Option<u32> {
        match *self {
            FieldPath::Own { shape, .. }
            | FieldPath::Absent { shape, .. }
            | FieldPath::Chain { shape, .. }
            | FieldPath::Gain { shape, .. } => Some(shape),
            FieldPath::Method { .. } | FieldPath::Member { .. } => None,
        }
    }

    unsafe fn of(st: *mut State, e: &FieldEntry, entry: usize) -> Option<FieldPath> {
        let dictionary = e.holder_is_dictionary();
        Some(match e.kind() {
            EntryKind::Unused => return None,
            EntryKind::Own(shape) => {
                let absent = (e.chain_shape == shape).then_some(entry);
                let is_inline = (*st).shapes.get(&shape).is_some_and(|&local| (*local).is_inline);
                let slot = Slot { number: e.slot, is_inline };
                FieldPath::Own { shape, slot, absent }
            }
            EntryKind::Strings => {
                FieldPath::Method { entry, dictionary, native: !e.outcome.is_null() }
            }
            EntryKind::Userdata => FieldPath::Member { entry, dictionary },
            EntryKind::Gain(shape) => {
                // an entry keeps its shapes alive
                let to = &*e.outcome.cast::<LocalShape>();
                let plain = !to.has_meta;
                let slot = Slot { number: e.slot, is_inline: to.is_inline };
                FieldPath::Gain { shape, slot, to: to.shape.id(), entry, plain }
            }
            EntryKind::Absent(shape) => FieldPath::Absent { shape, entry },
            EntryKind::Chain(shape) => {
                let method = !e.outcome.is_null();
                FieldPath::Chain { shape, entry, dictionary, method }
            }
        })
    }
}

/// The feedback of one function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// The cell of each instruction: for accesses and operators the kinds of operands as bits,
    /// otherwise the number of a record.
    pub cells: Box<[u32]>,
    /// Caches of fields, by number.
    pub fields: Box<[FieldSnapshot]>,
    /// Callees, by number.
    pub callees: Box<[CalleeSeen]>,
    /// The globals, by the number of the cache.
    pub globals: Box<[GlobalSeen]>,
    /// For an OSR entry: the tags of the frame's registers there, which its code checks once.
    pub entry_tags: Box<[u8]>,
    /// Whether the code must not speculate at all.
    pub general: bool,
    /// The instructions at which code has exited without new feedback, and must not speculate
    /// again.
    pub failed: BTreeSet<u32>,
    /// Whether code that was never executed is left to the interpreter.
    pub prunes: bool,
    /// The metamethods that may be inlined, by the pc of the instruction that calls them.
    pub handlers: BTreeMap<u32, HandlerSeen>,
    /// Callees that may be inlined, by the pc of the call, metamethods included.
    pub inlinees: BTreeMap<u32, Vec<InlineeSeen>>,
    /// The reasons why other callees are not inlined.
    pub(crate) not_inlined: NotInlined,
}

/// The reasons why Lua functions are not inlined, by the pc of the call. They are for dumps only:
/// code does not depend on them, so they do not make feedback different.
#[derive(Clone, Debug, Default)]
pub(crate) struct NotInlined(BTreeMap<u32, &'static str>);

impl NotInlined {
    pub(crate) fn note(&mut self, pc: u32, reason: &'static str) {
        self.0.insert(pc, reason);
    }

    pub(crate) fn get(&self, pc: u32) -> Option<&'static str> {
        self.0.get(&pc).copied()
    }
}

impl PartialEq for NotInlined {
    fn eq(&self, _: &NotInlined) -> bool {
        true
    }
}

impl Eq for NotInlined {}

impl Snapshot {
    /// Copies the feedback of an instance.
    ///
    /// # Safety
    /// `inst` is a live instance of `st`, the state that runs on this thread.
    pub unsafe fn take(st: *mut State, inst: *mut Instance) -> Snapshot {
        let caches = (*inst).field_caches().iter();
        let fields = caches.map(|cache| FieldSnapshot::take(st, cache)).collect();
        Snapshot {
            cells: (*inst).cells().into(),
            fields,
            callees: (*inst).callee_caches().iter().map(CalleeSeen::of).collect(),
            globals: (*inst).global_caches().iter().map(|c| GlobalSeen::of(c)).collect(),
            entry_tags: Box::default(),
            general: false,
            failed: BTreeSet::new(),
            prunes: false,
            handlers: BTreeMap::new(),
            inlinees: BTreeMap::new(),
            not_inlined: NotInlined::default(),
        }
    }

    /// The entry in [`Snapshot::entry_tags`] of a register whose tag code may not rely on.
    pub(crate) const UNKNOWN: u8 = 0xFF;

    /// Returns the cell of the instruction at `pc`.
    pub(crate) fn cell(&self, pc: Pc) -> u32 {
        self.cells[pc.index()]
    }

    /// Returns the inline cache of the field access at `pc`.
    pub(crate) fn field(&self, pc: Pc) -> &FieldSnapshot {
        &self.fields[self.cell(pc) as usize]
    }

    /// Returns the callees of the call at `pc`.
    pub(crate) fn callee(&self, pc: Pc) -> CalleeSeen {
        self.callees[self.cell(pc) as usize]
    }

    /// Returns the feedback of GETTABUP at `pc`.
    pub(crate) fn global(&self, pc: Pc) -> GlobalSeen {
        self.globals[self.cell(pc) as usize]
    }

    /// Adds the tags of a frame.
    ///
    /// # Safety
    /// `base` is that of a frame of the function, in use.
    pub unsafe fn take_tags(&mut self, base: *mut Value, inst: *mut Instance) {
        let size = (*inst).max_stack as usize;
        self.entry_tags = (0..size).map(|r| base.add(r).get().tag().0).collect();
    }
}
