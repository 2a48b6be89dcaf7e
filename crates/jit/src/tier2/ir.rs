//! The intermediate representation: a control-flow graph of instructions over values in SSA form.
//!
//! A value is a Lua value, whose tag may be known, or a condition. Blocks have parameters in place
//! of phi instructions. An instruction that speculates has a [`FrameState`] from which the
//! interpreter continues if the speculation fails: the state *before* the bytecode instruction, so
//! that the instruction is executed exactly once.

mod frame_state;

use std::cell::RefCell;
use std::sync::Arc;

use cranelift_codegen::entity::{EntitySet, PrimaryMap, SecondaryMap, entity_impl};
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use perilune_bytecode::Proto;
use perilune_runtime::frame::Frame as Layout;
use perilune_runtime::value::Tag;

pub(crate) use self::frame_state::{Content, FrameState, VirtualClosure, VirtualTable};
use super::shapes::Shapes;
use crate::codegen::builtin::Inlined;
use crate::codegen::element::ArrayChanges;
use crate::codegen::number::Operator;
use crate::entity::{Pc, Reg};
use crate::feedback::snapshot::Slot;

/// A value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Value(u32);
entity_impl!(Value, "v");

/// A basic block.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Block(u32);
entity_impl!(Block, "block");

/// A frame state.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct State(u32);
entity_impl!(State, "state");

/// A frame: that of the function itself, or that of a function inlined into it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Frame(u32);
entity_impl!(Frame, "frame");

/// An allocation of a table.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Object(u32);
entity_impl!(Object, "object");

/// The items of a constructor.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct List(u32);
entity_impl!(List, "list");

/// The type of a value, as far as it is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Type {
    /// A Lua value of any type.
    Any,
    /// A Lua value with this tag.
    Is(Tag),
    /// A condition, which branches test.
    Condition,
}

/// A function.
#[derive(Default)]
pub(crate) struct Function {
    pub(crate) values: PrimaryMap<Value, ValueData>,
    pub(crate) blocks: PrimaryMap<Block, BlockData>,
    pub(crate) states: PrimaryMap<State, FrameState>,
    /// The tables that instructions allocate.
    pub(crate) objects: PrimaryMap<Object, NewObject>,
    /// The values that SETLIST stores, or `select` selects from.
    pub(crate) lists: PrimaryMap<List, Vec<Value>>,
    /// The frames; the first is that of the function itself.
    pub(crate) frames: PrimaryMap<Frame, FrameData>,
    /// The reachable blocks, each after those that dominate it.
    pub(crate) order: Vec<Block>,
    /// Registers that closures share: their home slots may change whenever something is called.
    pub(crate) captured: EntitySet<Reg>,
    /// The function's own closure, if it is known to be the value of a constant upvalue.
    pub(crate) own: Option<Value>,
    /// Whether the code has an OSR entry: closures that were created before the entry may share
    /// registers.
    pub(crate) is_entered_in_loop: bool,
    /// The values whose types have determined what was built, even if nothing uses the values.
    pub(crate) consulted: RefCell<EntitySet<Value>>,
}

/// A frame: its function and the place of the call.
pub(crate) struct FrameData {
    pub(crate) proto: Arc<Proto>,
    /// The number of its register 0, counted from the base of the first frame: the frame of an
    /// inlined function has the same position as after a call.
    pub(crate) offset: usize,
    /// The number of its registers. An instruction with a variable number of results may use more
    /// of them than those of its function.
    pub(crate) size: usize,
    /// The number of extra arguments of an inlined vararg function.
    pub(crate) extra: usize,
    pub(crate) caller: Option<Caller>,
    /// The number of its function among the candidates for inlining.
    pub(crate) inlinee: Option<usize>,
}

impl FrameData {
    /// Returns the frame of the function itself.
    pub(crate) fn outermost(proto: Arc<Proto>) -> FrameData {
        let size = proto.max_stack.into();
        FrameData { proto, offset: 0, size, extra: 0, caller: None, inlinee: None }
    }

    /// Returns the number of the register that holds the callee at the call of an inlined function.
    /// The frame of a vararg function begins after the arguments, and has a separate header.
    pub(crate) fn callee(&self) -> usize {
        let moved = match self.proto.is_vararg {
            true => Layout::RESERVED + usize::from(self.proto.num_params) + self.extra,
            false => 0,
        };
        self.offset - moved - Layout::RESERVED
    }
}

/// The call of an inlined function.
#[derive(Clone, Copy)]
pub(crate) struct Caller {
    pub(crate) frame: Frame,
    /// Where the caller continues.
    pub(crate) pc: Pc,
    /// Whether the function that was called there has been replaced by a tail call of this one.
    pub(crate) is_tail: bool,
}

/// A table that NEWTABLE allocates, with the fields that its constructor stores.
pub(crate) struct NewObject {
    /// The fields, in the order of their stores.
    pub(crate) fields: Vec<FirstField>,
    /// The number of its slots.
    pub(crate) slots: usize,
    /// The instruction after the constructor.
    pub(crate) end: Pc,
    /// See [`Constructor::first`](crate::analysis::constructor::Constructor::first).
    pub(crate) first: Option<u32>,
    /// See [`Constructor::last`](crate::analysis::constructor::Constructor::last).
    pub(crate) last: Option<(Pc, u32, usize)>,
    /// The shape that it has with its fields, if it is known.
    pub(crate) shape: Option<u32>,
}

/// A field that a constructor stores.
#[derive(Clone, Copy)]
pub(crate) struct FirstField {
    /// The store.
    pub(crate) pc: Pc,
    pub(crate) slot: u32,
    pub(crate) value: Value,
    /// Whether the allocation exits if the value is nil.
    pub(crate) is_guarded: bool,
}

/// The type of a value, and the value from which it was obtained by a guard.
#[derive(Clone, Copy)]
pub(crate) struct ValueData {
    pub(crate) ty: Type,
    /// The value before its type was guarded: it has the same payload and tag.
    pub(crate) origin: Option<Value>,
}

/// A loop of the bytecode: the number of the inlined function that contains it, and its head.
pub(crate) type Place = (Option<usize>, Pc);

/// A basic block.
#[derive(Default)]
pub(crate) struct BlockData {
    /// The parameters, each for a register.
    pub(crate) params: Vec<(Value, Reg)>,
    pub(crate) insts: Vec<Inst>,
    pub(crate) end: End,
    /// Whether it is the head of a loop.
    pub(crate) is_loop: bool,
    /// Whether it belongs to the peeled iteration of a quiet loop.
    pub(crate) is_peeled: bool,
    /// The loop of which it is the head, if that loop was built as a quiet loop.
    pub(crate) quiet: Option<Place>,
}

/// An instruction.
#[derive(Clone, Copy)]
pub(crate) struct Inst {
    /// The bytecode instruction to which it belongs, in the function of `frame`.
    pub(crate) pc: Pc,
    pub(crate) frame: Frame,
    pub(crate) result: Option<Value>,
    pub(crate) op: Op,
}

/// The operation of an instruction.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Op {
    /// An integer.
    Integer(i64),
    /// A float, by its bits.
    Float(u64),
    /// Nil, false or true.
    Primitive(Tag),
    /// A string constant of the function, by its number.
    Str(usize),
    /// Loads a register from its home slot.
    Register(Reg),
    /// Stores a value to the home slot of a register that closures share.
    SetRegister(Reg, Value),
    /// Loads an upvalue of the closure, or of the function's own closure if that is `None`.
    Upvalue(Option<Value>, usize),
    /// The function's own closure.
    OwnClosure,
    /// The number of extra arguments of the function.
    ExtraCount,
    /// The extra argument with this number, counted from 1, or nil if there are fewer. Exits for
    /// other numbers.
    Extra(Value, State),
    /// Exits if a debug function has changed a variable that the program never assigns.
    GuardConstants(State),
    /// Exits unless the value is the function's own closure.
    GuardOwn(Value, State),
    /// Stores to an upvalue of the closure, or of the function's own closure if that is `None`.
    SetUpvalue(Option<Value>, usize, Value),
    /// Exits unless the closure has the method whose slot is at this address.
    GuardMethod(Value, usize, State),
    /// The metamethod that the instruction has called for tables with some metatable, a Lua
    /// function. Exits if the metatable is a different one, or if the record is no longer valid.
    Handler(Metatable, State),
    /// Allocates a table. Exits if this state has not allocated such a table there before, or if
    /// the value of a field that the table gains is nil.
    NewTable(Object, State),
    /// Allocates the virtual tables of the state; the result is the last one.
    Allocate(State),
    /// Allocates a closure of the inner function with this number, in the outermost frame.
    Closure(usize, State),
    /// Replaces the allocation of a closure: exits if this state has not created such a closure
    /// before.
    GuardInner(usize, State),
    /// Marks the beginning of an inlined function, with this frame and closure.
    Inline(Frame, Value),
    /// As [`Op::Inline`], for a closure of this inner function that is not allocated.
    InlineInner(Frame, usize),
    /// Exits unless the value has this tag; the result is the value. The bytecode instruction
    /// treats other tags differently, so the guard stays even if its result is not used.
    Guard(Value, Tag, State),
    /// As [`Op::Guard`], but only code that follows speculates on the tag: the guard can be removed
    /// if its result is not used.
    Speculate(Value, Tag, State),
    /// Exits unless the table has one of these shapes.
    GuardShape(Value, Shapes, State),
    /// Whether a table has this shape.
    HasShape(Value, u32),
    /// Computes an integer from integers; exits where Lua raises an error.
    IntArith(Operator, Value, Value, State),
    /// Divides unsigned integers, the second of which is not 0.
    Rounds(Value, Value),
    /// `math.floor(x / n)` of an integer and a constant above 1.
    FloorQuotient(Value, u64),
    /// Computes a float from floats.
    FloatArith(Operator, Value, Value),
    /// Computes a number from numbers of either kind; exits if an operand is not a number.
    NumberArith(Operator, Value, Value, State),
    /// Converts an integer to a float.
    ToFloat(Value),
    /// Converts a number to a float; exits if the value is not a number.
    NumberToFloat(Value, State),
    /// Converts a number to the equal integer; exits if there is none.
    NumberToInt(Value, State),
    /// The limit of a loop over integers: the value, or for a float the next integer below it, if
    /// the loop ascends, or above it. Exits for other values, for NaN, and if the loop does not run
    /// because the float is beyond all integers.
    LoopLimit(Value, bool, State),
    /// Exits if both values are integers.
    GuardNotBothInt(Value, Value, State),
    /// Compares integers.
    CompareInt(IntCC, Value, Value),
    /// Compares floats.
    CompareFloat(FloatCC, Value, Value),
    /// Compares numbers of either kind. Exits if an operand is not a number, or if one is a float
    /// and the other an integer that may not be exactly representable as a float.
    CompareNumber(IntCC, FloatCC, Value, Value, State),
    /// Whether the payloads of two values with the same tag are equal.
    Same(Value, Value),
    /// Whether the first value is the second, a short string.
    IsString(Value, Value),
    /// Whether a value is a number equal to an integer.
    IsInteger(Value, i64),
    /// Whether two values of any type are equal. Exits if a metamethod may have to be called. The
    /// block ends with a branch on the result; the code of the branch compares.
    Equal(Value, Value, State),
    /// Whether a value has this tag.
    HasTag(Value, Tag),
    /// Whether a value counts as true.
    IsTrue(Value),
    /// The boolean `not v`: true for nil and false, and false for all other values.
    Not(Value),
    /// Loads the field in a slot of a table whose shape is guarded. Exits if it is nil and a
    /// metamethod may be called; these entries of the inline cache record that the metatables do
    /// not have the field either.
    Field(Value, Slot, Entries, State),
    /// Loads the field in a slot of a table whose shape is guarded. Exits unless the field has this
    /// tag.
    FieldOf(Value, Slot, Tag, State),
    /// Loads the field in a slot of a table whose shape is guarded, which code that follows
    /// speculates to have this tag, and to be a closure of this method, named by the address of the
    /// method's slot.
    Reload(Value, Slot, (Tag, Option<usize>), State),
    /// Stores the field in a slot of a table whose shape is guarded. Exits if the store may affect
    /// more than the table.
    SetField(Value, Slot, Value, Checks, State),
    /// Adds a field to a table whose shape is guarded. Exits if the value is nil, if there is no
    /// room, or if the store may affect more than the table.
    AddField(Value, Value, Gain, State),
    /// Loads a field from the chain of metatables of a table whose shape is guarded and does not
    /// contain the field. Uses an entry of the inline cache; exits if the entry is no longer valid.
    ChainField(Metatable, Chain, State),
    /// Loads a method of a string from the metatable of strings. Uses an entry of the inline cache;
    /// exits if the entry is no longer valid. The operand is the string, if it is already
    /// available.
    StringMethod(Option<Value>, StringMethod, State),
    /// The epoch of metatables.
    Epoch,
    /// Exits unless the epoch of metatables is this one.
    GuardEpoch(Value, State),
    /// Loads the element at an integer key from an array of numbers with this tag; exits if there
    /// is none. If the flag is set, the key is known to be in the range of the array.
    Number(Value, Value, Tag, bool, State),
    /// Marks the jump to a counting loop with this step, whose index is in this register; it may be
    /// replaced by a guard of ranges.
    Counts(Reg, i64, State),
    /// Exits unless an array has the elements at all indices of a loop. The values are the first
    /// index of the loop, and the number of further iterations.
    GuardRange(Value, [Value; 2], Range, State),
    /// Loads the element at an integer key from an array of booleans; exits if the key is not in
    /// the array, and if the element is nil and the table has a metatable.
    Boolean(Value, Value, State),
    /// Loads an element from an array of any values; exits if there is none or it is nil.
    Element(Value, Value, State),
    /// Loads the value at an integer key of a table; exits if it is nil and the table has a
    /// metatable, or if the array is one of booleans and feedback has recorded no such array.
    ElementOrNil(Value, Value, State),
    /// Stores an element of an array. Exits if a metamethod may be called. Also exits if there is
    /// no such element or the array is of another kind, unless the store may change the array.
    SetElement(Value, Value, Value, ArrayChanges, State),
    /// Selects the value of a list at an integer index, which counts from 1: nil above the last.
    /// Exits if the index is below 1.
    Select(Value, List, State),
    /// Stores the items of a constructor as all elements of the table, as SETLIST does. The table
    /// was created with room for them.
    SetList(Value, List, usize, State),
    /// Gives the table a metatable `{__index = class}`, as CALLMETA does. Exits if the table has
    /// another metatable, if caches may rely on the table, or if the class is new.
    SetClass(Value, Value, State),
    /// Gives the table this metatable, as `setmetatable` does. Exits if the table has a metatable,
    /// if caches may rely on the table, or if the metatable is new or has `__gc`.
    SetMetatable(Value, Value, State),
    /// Exits unless tables may get this metatable without further effects: it must have been used
    /// as a metatable before, and have no `__gc`.
    GuardMetatable(Metatable, State),
    /// Exits if the metatable may have `__newindex`.
    GuardNoNewIndex(Metatable, State),
    /// Exits if the value is nil.
    GuardNotNil(Value, State),
    /// Exits if the table has a metatable.
    GuardNoMetatable(Value, State),
    /// Exits if the two values are the same table.
    GuardDistinct(Value, Value, State),
    /// Begins a traversal of a table by `next`, as TFORPREP does; returns its first position. Exits
    /// if the runtime fails.
    Traversal(Value, State),
    /// The bound value of a native function; it is another native function.
    Bound(Value),
    /// Sets the top of the stack to the address of a register: the values below it are all results
    /// of a call, which the next instruction uses.
    SetTop(Reg),
    /// Loads a global. The environment is this upvalue of the closure, or of the function's own
    /// closure if that is `None`.
    Global(Option<Value>, usize, GlobalAccess, State),
    /// The length of a string or table; exits for other values, and if the table may have `__len`.
    Length(Value, State),
    /// Polls; if there is something to do, first stores the registers that the runtime may read to
    /// their home slots. In a loop that preserves facts about memory the poll is quiet: it exits if
    /// memory may have changed.
    Poll(State, bool),
    /// Exits unless the native function is the library function with this number.
    GuardLibrary(Value, u32, State),
    /// Computes or calls a library function with these arguments; exits if the leaf does not handle
    /// them.
    Library(Library, [Option<Value>; 3], State),
    /// In code that checks itself: compares the known value of a field, whose load was omitted,
    /// with the field of the table.
    CheckField(Value, Value),
    /// As [`Op::CheckField`], for an upvalue of the closure, or of the function's own closure if
    /// that is `None`.
    CheckUpvalue(Option<Value>, usize, Value),
    /// As [`Op::CheckField`], for a register in its home slot.
    CheckRegister(Reg, Value),
    /// As [`Op::CheckUpvalue`], for a global.
    CheckGlobal(Option<Value>, Value),
    /// Executes the bytecode instruction by the fast paths of generic code, which run no Lua code;
    /// exits where they cannot. The results are left in home slots.
    FastPath(State),
    /// Executes the instruction of the bytecode with all registers in their home slots, where it
    /// leaves its results.
    Generic(State),
    /// As [`Op::Generic`], for a CALL with one result, which is not left in a home slot.
    Call(State),
}

/// A library function that machine code knows, at a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Library {
    pub(crate) number: u32,
    /// The code that computes the usual results without a call.
    pub(crate) inlined: Option<Inlined>,
    /// The tag of all results, if it is always the same; a call whose result would have another tag
    /// exits. If it is `None`, the function is called for the cases that `inlined` does not
    /// compute.
    pub(crate) tag: Option<Tag>,
    /// The register of the callee; its arguments follow as in any call.
    pub(crate) at: Reg,
}

/// The metatable of a table.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Metatable {
    /// That of this table.
    Of(Value),
    /// This table.
    Is(Value),
    /// A metatable `{__index = class}` with this class.
    WithIndex(Value),
}

impl Metatable {
    /// Returns the table to which it refers.
    pub(crate) fn table(self) -> Value {
        let (Metatable::Of(v) | Metatable::Is(v) | Metatable::WithIndex(v)) = self;
        v
    }

    fn table_mut(&mut self) -> &mut Value {
        let (Metatable::Of(v) | Metatable::Is(v) | Metatable::WithIndex(v)) = self;
        v
    }
}

/// Entries of an inline cache of fields: a bit for each, by its number.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Entries(u8);

impl Entries {
    /// Adds an entry.
    pub(crate) fn add(&mut self, entry: usize) {
        self.0 |= 1 << entry;
    }

    /// Returns the numbers of the entries.
    pub(crate) fn iter(self) -> impl Iterator<Item = usize> {
        (0..u8::BITS as usize).filter(move |entry| self.0 >> entry & 1 != 0)
    }
}

/// The indices of the loads in a counting loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Range {
    /// The step of the loop, which is positive.
    pub(crate) step: i64,
    /// The least difference between an index and that of the loop.
    pub(crate) least: i64,
    /// The greatest such difference.
    pub(crate) most: i64,
}

/// How a global is loaded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum GlobalAccess {
    /// Through its inline cache. Exits if the cache has no valid entry, if the global is nil, or if
    /// the environment inherits it.
    Cached,
    /// In the same way, but the environment may inherit the global.
    Inherited,
    /// In the same way, but the code speculates that the global stays the same, and exits if it has
    /// changed before.
    Constant,
    /// By a lookup in the environment; the result may be nil. Exits if the environment is not in
    /// dictionary mode, or if it has a metatable and does not contain the global.
    Searched,
}

/// The inline cache entry that contains a method of strings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct StringMethod {
    /// The number of the cache.
    pub(crate) cache: usize,
    /// The number of its entry.
    pub(crate) entry: usize,
    /// Whether the holder is in dictionary mode.
    pub(crate) dictionary: bool,
    /// Whether the method is a native function, which the entry contains.
    pub(crate) native: bool,
}

/// An inline cache entry for a field found along a chain of metatables.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Chain {
    pub(crate) cache: usize,
    pub(crate) entry: usize,
    pub(crate) shape: u32,
    pub(crate) dictionary: bool,
    /// Whether the field is a Lua function, which the entry holds.
    pub(crate) method: bool,
    /// Whether the runtime may make the entry valid if it is not: the code must not rely on a
    /// function that the entry held before.
    pub(crate) renews: bool,
}

/// An inline cache entry for a store that adds a field.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Gain {
    pub(crate) cache: usize,
    pub(crate) entry: usize,
    pub(crate) shape: u32,
    pub(crate) slot: Slot,
    /// The shape that the table has afterwards.
    pub(crate) to: u32,
    /// Whether tables of the shape have no metatable.
    pub(crate) plain: bool,
}

/// The checks and stores that a store to a field needs because the facts that would make them
/// redundant are not known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Checks {
    /// Whether caches may rely on the table: it may be a metatable or a class.
    pub(crate) watched: bool,
    /// Whether the field may be nil, so that a metamethod may be called.
    pub(crate) absent: bool,
    /// Whether the field may have another tag than the value.
    pub(crate) tag: bool,
}

/// How a block ends.
#[derive(Default)]
pub(crate) enum End {
    /// It has not been decided yet.
    #[default]
    Open,
    Jump(Target),
    /// Jumps to the first target if the condition holds, otherwise to the second.
    Branch(Value, Target, Target),
    /// Returns a value.
    Return(Value),
    /// Returns nothing.
    ReturnNone,
    /// Exits: the frame continues in the interpreter.
    Exit(State),
    /// Executes the bytecode instruction as [`Op::Generic`] does, and jumps to the target for the
    /// pc at which it continues. Without targets, the instruction returns.
    Generic(State, Vec<(Pc, Target)>),
}

/// The successor of a block, with the arguments for its parameters.
#[derive(Clone)]
pub(crate) struct Target {
    pub(crate) block: Block,
    pub(crate) args: Vec<Value>,
}

impl Function {
    /// Returns the values that an operation reads.
    pub(crate) fn args(&self, op: &Op) -> impl Iterator<Item = Value> + use<'_> {
        let fields = match *op {
            Op::NewTable(object, _) => &self.objects[object].fields[..],
            _ => &[],
        };
        let items = match *op {
            Op::SetList(_, list, ..) | Op::Select(_, list, _) => &self.lists[list][..],
            _ => &[],
        };
        op.args().chain(fields.iter().map(|field| field.value)).chain(items.iter().copied())
    }

    /// Replaces the values that an operation reads.
    pub(crate) fn map_args(&mut self, op: &mut Op, mut f: impl FnMut(Value) -> Value) {
        op.map(&mut f);
        match *op {
            Op::NewTable(object, _) => {
                let fields = self.objects[object].fields.iter_mut();
                fields.for_each(|field| field.value = f(field.value));
            }
            Op::SetList(_, list, ..) | Op::Select(_, list, _) => {
                self.lists[list].iter_mut().for_each(|v| *v = f(*v));
            }
            _ => {}
        }
    }

    /// Returns the blocks at the other ends of the edges to each block, one for each edge.
    pub(crate) fn predecessors(&self) -> SecondaryMap<Block, Vec<Block>> {
        let mut predecessors: SecondaryMap<Block, Vec<Block>> = SecondaryMap::new();
        for &block in &self.order {
            for target in self.blocks[block].end.targets() {
                predecessors[target.block].push(block);
            }
        }
        predecessors
    }

    /// Creates a value.
    pub(crate) fn value(&mut self, ty: Type) -> Value {
        self.values.push(ValueData { ty, origin: None })
    }

    /// Returns the type of a value.
    pub(crate) fn ty(&self, v: Value) -> Type {
        self.values[v].ty
    }

    /// Returns the type of a value in order to decide what to build: the guard that establishes the
    /// type is then kept.
    pub(crate) fn consult(&self, v: Value) -> Type {
        self.consulted.borrow_mut().insert(v);
        self.ty(v)
    }

    /// Returns whether the type of a value has determined what was built.
    pub(crate) fn is_consulted(&self, v: Value) -> bool {
        self.consulted.borrow().contains(v)
    }

    /// Updates the set of consulted values after values were replaced by others.
    pub(crate) fn rename_consulted(&mut self, resolve: impl Fn(Value) -> Value) {
        let consulted = self.consulted.get_mut();
        for v in self.values.keys() {
            if consulted.contains(v) {
                consulted.insert(resolve(v));
            }
        }
    }

    /// Returns the value before all guards of its type.
    pub(crate) fn origin(&self, v: Value) -> Value {
        self.values[v].origin.unwrap_or(v)
    }
}

impl Type {
    /// Returns the tag, if it is known.
    pub(crate) fn tag(self) -> Option<Tag> {
        match self {
            Type::Is(tag) => Some(tag),
            Type::Any | Type::Condition => None,
        }
    }

    /// Returns the type of a value that has one of the two types.
    pub(crate) fn join(self, other: Type) -> Type {
        if self == other { self } else { Type::Any }
    }
}

impl Op {
    /// Returns the values that it reads, three at most, apart from those of a new object and of a
    /// list.
    fn args(&self) -> impl Iterator<Item = Value> + use<> {
        let (mut op, mut found, mut count) = (*self, [None; 3], 0);
        op.map(|v| {
            found[count] = Some(v);
            count += 1;
            v
        });
        found.into_iter().flatten()
    }

    /// Replaces the values that [`Op::args`] returns.
    fn map(&mut self, mut f: impl FnMut(Value) -> Value) {
        use Op::*;
        match self {
            Integer(_) | Float(_) | Primitive(_) | Str(_) | Register(_) | SetTop(_) | Poll(..)
            | FastPath(_) | Generic(_) | Call(_) | NewTable(..) | Allocate(_) | Closure(..)
            | GuardInner(..) | InlineInner(..) | Epoch | Counts(..) | OwnClosure | ExtraCount
            | GuardConstants(_) => {}
            Upvalue(v, _) | Global(v, ..) | StringMethod(v, ..) => {
                if let Some(v) = v {
                    *v = f(*v);
                }
            }
            SetUpvalue(closure, _, v) | CheckUpvalue(closure, _, v) | CheckGlobal(closure, v) => {
                if let Some(closure) = closure {
                    *closure = f(*closure);
                }
                *v = f(*v);
            }
            SetRegister(_, v)
            | CheckRegister(_, v)
            | GuardMethod(v, ..)
            | GuardOwn(v, _)
            | Extra(v, _)
            | GuardNotNil(v, _)
            | GuardNoMetatable(v, _)
            | Traversal(v, _)
            | Bound(v)
            | GuardLibrary(v, ..)
            | Inline(_, v)
            | Guard(v, ..)
            | Speculate(v, ..)
            | GuardShape(v, ..)
            | ToFloat(v)
            | FloorQuotient(v, _)
            | NumberToFloat(v, _)
            | NumberToInt(v, _)
            | LoopLimit(v, ..)
            | HasTag(v, _)
            | HasShape(v, _)
            | IsTrue(v)
            | Not(v)
            | Field(v, ..)
            | FieldOf(v, ..)
            | Reload(v, ..)
            | GuardEpoch(v, _)
            | Length(v, _)
            | SetList(v, ..)
            | Select(v, ..)
            | IsInteger(v, _) => *v = f(*v),
            Handler(meta, _)
            | ChainField(meta, ..)
            | GuardMetatable(meta, _)
            | GuardNoNewIndex(meta, _) => {
                let v = meta.table_mut();
                *v = f(*v);
            }
            IntArith(_, a, b, _)
            | NumberArith(_, a, b, _)
            | FloatArith(_, a, b)
            | Rounds(a, b)
            | CompareInt(_, a, b)
            | CompareFloat(_, a, b)
            | CompareNumber(_, _, a, b, _)
            | Same(a, b)
            | GuardNotBothInt(a, b, _)
            | SetField(a, _, b, ..)
            | Number(a, b, ..)
            | IsString(a, b)
            | CheckField(a, b)
            | Equal(a, b, _)
            | AddField(a, b, ..)
            | SetClass(a, b, _)
            | SetMetatable(a, b, _)
            | GuardDistinct(a, b, _)
            | Boolean(a, b, _)
            | Element(a, b, _)
            | ElementOrNil(a, b, _) => (*a, *b) = (f(*a), f(*b)),
            SetElement(a, b, c, ..) | GuardRange(a, [b, c], ..) => {
                (*a, *b, *c) = (f(*a), f(*b), f(*c))
            }
            Library(_, args, _) => args.iter_mut().flatten().for_each(|v| *v = f(*v)),
        }
    }

    /// Returns the state in which it exits, or whose registers it stores to their home slots.
    pub(crate) fn state(&self) -> Option<State> {
        let mut op = *self;
        op.state_mut().copied()
    }

    /// As [`Op::state`], to replace it.
    pub(crate) fn state_mut(&mut self) -> Option<&mut State> {
        use Op::*;
        match self {
            IntArith(Operator::Mod | Operator::IDiv, _, _, s)
            | NumberArith(_, _, _, s)
            | CompareNumber(_, _, _, _, s)
            | Guard(_, _, s)
            | Speculate(_, _, s)
            | GuardShape(_, _, s)
            | GuardMethod(_, _, s)
            | Handler(_, s)
            | GuardLibrary(_, _, s)
            | Library(_, _, s)
            | NumberToFloat(_, s)
            | NumberToInt(_, s)
            | LoopLimit(_, _, s)
            | GuardNotBothInt(_, _, s)
            | Field(_, _, _, s)
            | FieldOf(_, _, _, s)
            | Reload(_, _, _, s)
            | SetField(_, _, _, _, s)
            | ChainField(_, _, s)
            | StringMethod(_, _, s)
            | GuardEpoch(_, s)
            | GuardConstants(s)
            | Number(_, _, _, _, s)
            | Counts(_, _, s)
            | GuardRange(_, _, _, s)
            | Boolean(_, _, s)
            | Element(_, _, s)
            | ElementOrNil(_, _, s)
            | Length(_, s)
            | Equal(_, _, s)
            | AddField(_, _, _, s)
            | SetElement(.., s)
            | SetList(_, _, _, s)
            | Select(_, _, s)
            | SetClass(_, _, s)
            | SetMetatable(_, _, s)
            | NewTable(_, s)
            | Allocate(s)
            | Closure(_, s)
            | GuardInner(_, s)
            | GuardMetatable(_, s)
            | GuardNoNewIndex(_, s)
            | GuardNotNil(_, s)
            | GuardNoMetatable(_, s)
            | GuardDistinct(_, _, s)
            | Traversal(_, s)
            | Global(_, _, _, s)
            | GuardOwn(_, s)
            | Extra(_, s)
            | Poll(s, _)
            | FastPath(s)
            | Generic(s)
            | Call(s) => Some(s),
            _ => None,
        }
    }

    /// Returns whether it can be removed if neither its result is used nor its type consulted: it
    /// must have no side effects, and exit only if a speculation on the result fails.
    pub(crate) fn is_removable(&self) -> bool {
        use Op::*;
        match self {
            IntArith(operator, ..) => !matches!(operator, Operator::Mod | Operator::IDiv),
            Speculate(..) | Reload(..) | Rounds(..) | FloorQuotient(..) | Epoch | Integer(_)
            | Float(_) | Primitive(_) | Str(_) | Register(_) | Upvalue(..) | OwnClosure
            | ExtraCount | FloatArith(..) | ToFloat(_) | CompareInt(..) | CompareFloat(..)
            | Same(..) | HasTag(..) | HasShape(..) | IsString(..) | IsInteger(..) | IsTrue(_)
            | Not(_) | Bound(_) => true,
            _ => false,
        }
    }
}

impl End {
    /// Returns the targets.
    pub(crate) fn targets(&self) -> impl Iterator<Item = &Target> {
        let (first, second, more): (_, _, &[(Pc, Target)]) = match self {
            End::Open | End::Return(_) | End::ReturnNone | End::Exit(_) => (None, None, &[]),
            End::Jump(t) => (Some(t), None, &[]),
            End::Branch(_, yes, no) => (Some(yes), Some(no), &[]),
            End::Generic(_, ways) => (None, None, ways),
        };
        first.into_iter().chain(second).chain(more.iter().map(|(_, t)| t))
    }

    /// Returns the targets, mutably.
    pub(crate) fn targets_mut(&mut self) -> impl Iterator<Item = &mut Target> {
        let (first, second, more): (_, _, &mut [(Pc, Target)]) = match self {
            End::Open | End::Return(_) | End::ReturnNone | End::Exit(_) => (None, None, &mut []),
            End::Jump(t) => (Some(t), None, &mut []),
            End::Branch(_, yes, no) => (Some(yes), Some(no), &mut []),
            End::Generic(_, ways) => (None, None, ways),
        };
        first.into_iter().chain(second).chain(more.iter_mut().map(|(_, t)| t))
    }

    /// Replaces the values that it reads.
    pub(crate) fn map(&mut self, mut f: impl FnMut(Value) -> Value) {
        if let End::Branch(v, ..) | End::Return(v) = self {
            *v = f(*v);
        }
        for target in self.targets_mut() {
            for arg in &mut target.args {
                *arg = f(*arg);
            }
        }
    }

    /// Returns the value that it reads apart from arguments.
    pub(crate) fn arg(&self) -> Option<Value> {
        match *self {
            End::Branch(v, ..) | End::Return(v) => Some(v),
            _ => None,
        }
    }

    /// Returns the state in which it exits, or whose registers it stores to their home slots.
    pub(crate) fn state(&self) -> Option<State> {
        match *self {
            End::Exit(s) | End::Generic(s, _) => Some(s),
            _ => None,
        }
    }

    /// As [`End::state`], to replace it.
    pub(crate) fn state_mut(&mut self) -> Option<&mut State> {
        match self {
            End::Exit(s) | End::Generic(s, _) => Some(s),
            _ => None,
        }
    }
}
