//! The intermediate representation: a control-flow graph of instructions over values in SSA form.
//!
//! Values are Lua values, of which the tag may be known, or conditions. Blocks have parameters in
//! place of phi instructions. An instruction that relies on something names the [`FrameState`] in
//! which the frame continues in the interpreter where that does not hold: the state *before* the
//! instruction of the bytecode, so that it is executed once.

use std::sync::Arc;

use cranelift_codegen::entity::{EntitySet, PrimaryMap, entity_impl};
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use perilune_bytecode::Proto;
use perilune_runtime::value::Tag;

use super::shapes::Shapes;
use crate::codegen::builtin::Inlined;
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

/// A frame: that of the function, or one of a function that is inlined in it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Frame(u32);
entity_impl!(Frame, "frame");

/// What is known of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Type {
    /// A Lua value of any type.
    Any,
    /// A Lua value with this tag.
    Is(Tag),
    /// A condition: what branches test.
    Condition,
}

/// A function.
#[derive(Default)]
pub(crate) struct Function {
    pub(crate) values: PrimaryMap<Value, ValueData>,
    pub(crate) blocks: PrimaryMap<Block, BlockData>,
    pub(crate) states: PrimaryMap<State, FrameState>,
    /// The frames; the first is that of the function itself.
    pub(crate) frames: PrimaryMap<Frame, FrameData>,
    /// The blocks that can be reached, each after those that dominate it.
    pub(crate) order: Vec<Block>,
    /// Registers that closures share: their home slots may change whenever something is called.
    pub(crate) captured: EntitySet<Reg>,
}

/// A frame: a function, and where it is called.
pub(crate) struct FrameData {
    pub(crate) proto: Arc<Proto>,
    /// Where its register 0 is. Registers of all frames are numbered from the first frame's base:
    /// a frame of an inlined function lies where it would if the function had been called.
    pub(crate) offset: usize,
    pub(crate) caller: Option<Caller>,
    /// Its number among the functions that may be inlined.
    pub(crate) inlinee: Option<usize>,
}

/// The call of a function that is inlined.
#[derive(Clone, Copy)]
pub(crate) struct Caller {
    pub(crate) frame: Frame,
    /// Where the caller continues.
    pub(crate) pc: Pc,
    /// What was called there has been replaced by a tail call of the function.
    pub(crate) is_tail: bool,
}

/// What is known of a value, and where it comes from.
#[derive(Clone, Copy)]
pub(crate) struct ValueData {
    pub(crate) ty: Type,
    /// The value that it was before a guard said more of its type: the same payload and tag.
    pub(crate) origin: Option<Value>,
}

/// A loop of the bytecode: the number of the inlined function that it is in, and its head.
pub(crate) type Place = (Option<usize>, Pc);

/// A basic block.
#[derive(Default)]
pub(crate) struct BlockData {
    /// Parameters, each for a register.
    pub(crate) params: Vec<(Value, Reg)>,
    pub(crate) insts: Vec<Inst>,
    pub(crate) end: End,
    /// Control comes back to here.
    pub(crate) is_loop: bool,
    /// It belongs to a round that was peeled from a quiet loop.
    pub(crate) is_peeled: bool,
    /// It is the head of this loop, which was built as a quiet one.
    pub(crate) quiet: Option<Place>,
}

/// An instruction.
#[derive(Clone, Copy)]
pub(crate) struct Inst {
    /// The instruction of the bytecode that it belongs to, of the function of this frame.
    pub(crate) pc: Pc,
    pub(crate) frame: Frame,
    pub(crate) result: Option<Value>,
    pub(crate) op: Op,
}

/// What an instruction does.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Op {
    /// An integer.
    Integer(i64),
    /// A float, by its bits.
    Float(u64),
    /// Nil, false or true.
    Primitive(Tag),
    /// A constant of the function that is a string, by its number.
    Str(usize),
    /// Loads a register from its home slot.
    Register(Reg),
    /// Stores a value to the home slot of a register that closures share.
    SetRegister(Reg, Value),
    /// Loads an upvalue of the closure, if that is not the one of the function itself.
    Upvalue(Option<Value>, usize),
    /// Stores to an upvalue of the closure, if that is not the one of the function itself.
    SetUpvalue(Option<Value>, usize, Value),
    /// Exits unless the closure has the method whose slot is at this address.
    GuardMethod(Value, usize, State),
    /// The code of an inlined function begins: the frame, and the closure.
    Inline(Frame, Value),
    /// Exits unless the value has this tag; the result is the value. The instruction that needs it
    /// has another effect on values with other tags, so it is executed even if its result is not
    /// used.
    Guard(Value, Tag, State),
    /// As [`Op::Guard`], where code that follows speculates on the tag: no effect depends on it.
    Speculate(Value, Tag, State),
    /// Exits unless the table has one of these shapes.
    GuardShape(Value, Shapes, State),
    /// Whether a table has this shape.
    HasShape(Value, u32),
    /// Computes an integer of integers. Exits for what is an error.
    IntArith(Operator, Value, Value, State),
    /// The quotient of unsigned integers, of which the second is not 0.
    Rounds(Value, Value),
    /// Computes a float of floats.
    FloatArith(Operator, Value, Value),
    /// Converts an integer to a float.
    ToFloat(Value),
    /// Converts a number to a float; exits if it is none.
    NumberToFloat(Value, State),
    /// Converts a number to the integer that is equal to it; exits if there is none.
    NumberToInt(Value, State),
    /// Exits if both values are integers.
    GuardNotBothInt(Value, Value, State),
    /// Compares integers.
    CompareInt(IntCC, Value, Value),
    /// Compares floats.
    CompareFloat(FloatCC, Value, Value),
    /// Whether payloads are equal, of values with the same tag.
    Same(Value, Value),
    /// Whether a value is a short string, the second operand.
    IsString(Value, Value),
    /// Whether a value is a number equal to an integer.
    IsInteger(Value, i64),
    /// Whether two values of any type are equal. Exits if a metamethod may have a say. The block
    /// ends with a branch on it, which does the comparing.
    Equal(Value, Value, State),
    /// Whether a value has this tag.
    HasTag(Value, Tag),
    /// Whether a value counts as true.
    IsTrue(Value),
    /// False for what counts as true, and true for nil and false.
    Not(Value),
    /// Loads the field in a slot of a table whose shape is guarded. Exits if it is nil and a
    /// metamethod may have a say; these entries of the inline cache are for tables whose
    /// metatables do not have the field either.
    Field(Value, Slot, Entries, State),
    /// Loads the field in a slot of a table whose shape is guarded. Exits unless it has this tag.
    FieldOf(Value, Slot, Tag, State),
    /// Stores the field in a slot of a table whose shape is guarded. Exits if the store may concern
    /// more than the table.
    SetField(Value, Slot, Value, Checks, State),
    /// Adds a field to a table whose shape is guarded. Exits if it is nil, if there is no room, or
    /// the store may concern more than the table.
    AddField(Value, Value, Gain, State),
    /// Loads the field that the chain of metatables of a table whose shape is guarded has, by an
    /// entry of an inline cache; exits if the cache does not hold. Tables of the shape do not have
    /// the field themselves.
    ChainField(Value, Chain, State),
    /// Loads the element under an integer of an array of numbers with this tag; exits if there is
    /// none.
    Number(Value, Value, Tag, State),
    /// Loads an element of an array of any kind; exits if it is none or nil.
    Element(Value, Value, State),
    /// Loads what a table has under an integer, or nil; exits if that is nil and the table has a
    /// metatable.
    ElementOrNil(Value, Value, State),
    /// Stores an element of an array. Exits if a metamethod may have a say, and if there is no
    /// element to store over and none was added before.
    SetElement(Value, Value, Value, State),
    /// Gives a table a metatable `{__index = class}`, as CALLMETA does: the table and the class.
    /// Exits if the table has another metatable, if caches may rely on it, or the class is new.
    SetClass(Value, Value, State),
    /// Loads a global by its inline cache. Exits if the cache does not hold, or the global is nil.
    Global(Option<Value>, State),
    /// The length of a table without metatable (exits), or of a string.
    Length(Value, State),
    /// Stores home what the runtime may look at if there is something to poll, and polls. In a
    /// loop that keeps what is known of memory it is quiet: it exits if that may have changed.
    Poll(State, bool),
    /// Exits unless the native function is the library function with this number.
    GuardLibrary(Value, u32, State),
    /// Computes or calls a library function with these arguments; exits if it has no answer.
    Library(Library, [Option<Value>; 3], State),
    /// Compares a value with the field that the instruction reads of a table, in code that checks
    /// itself: the field is not loaded, as it is known.
    CheckField(Value, Value),
    /// The same with an upvalue of the closure, if that is not the one of the function itself.
    CheckUpvalue(Option<Value>, usize, Value),
    /// The same with a global, by the closure in the same way.
    CheckGlobal(Option<Value>, Value),
    /// Executes the instruction of the bytecode by the fast paths of generic code, which run no
    /// Lua code. Exits where they have no answer. The results are left in home slots.
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
    /// What computes the usual results without a call.
    pub(crate) inlined: Option<Inlined>,
    /// The tag of all results. What would have another one exits, and else is called for.
    pub(crate) tag: Option<Tag>,
    /// The register of the callee; arguments follow where a call has them.
    pub(crate) at: Reg,
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

/// An entry of an inline cache of fields that is for a chain of metatables.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Chain {
    pub(crate) cache: usize,
    pub(crate) entry: usize,
    pub(crate) shape: u32,
    pub(crate) dictionary: bool,
    /// The field is a Lua function, which the entry has.
    pub(crate) method: bool,
}

/// An entry of an inline cache of fields that is for a store which adds a field.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Gain {
    pub(crate) cache: usize,
    pub(crate) entry: usize,
    pub(crate) shape: u32,
    pub(crate) slot: Slot,
    /// The shape that the table has afterwards.
    pub(crate) to: u32,
    /// Tables of the shape have no metatable.
    pub(crate) plain: bool,
}

/// What a store to a field has to check or to store, as it is not known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Checks {
    /// The table may be one that caches rely on: a metatable or a class.
    pub(crate) watched: bool,
    /// The field may be nil, and a metamethod may have a say.
    pub(crate) absent: bool,
    /// The field may have another tag than the value.
    pub(crate) tag: bool,
}

/// How a block ends.
#[derive(Default)]
pub(crate) enum End {
    /// Not yet.
    #[default]
    Open,
    Jump(Target),
    /// The first target if the condition holds, else the second.
    Branch(Value, Target, Target),
    /// Returns a value.
    Return(Value),
    /// Returns nothing.
    ReturnNone,
    /// The frame continues in the interpreter.
    Exit(State),
    /// Executes the instruction of the bytecode as [`Op::Generic`] does, and goes to the target
    /// for the instruction that it continues with. Without targets it returns.
    Generic(State, Vec<(Pc, Target)>),
}

/// Where a block ends, with the values for the parameters of the next one.
#[derive(Clone)]
pub(crate) struct Target {
    pub(crate) block: Block,
    pub(crate) args: Vec<Value>,
}

/// The state of a frame before an instruction of the bytecode, and those of its callers.
pub(crate) struct FrameState {
    pub(crate) frame: Frame,
    pub(crate) pc: Pc,
    /// Values of registers of the frame and of those of its callers. Others are in their home
    /// slots, or needed no more.
    pub(crate) registers: Vec<(Reg, Value)>,
}

impl Function {
    /// Creates a value.
    pub(crate) fn value(&mut self, ty: Type) -> Value {
        self.values.push(ValueData { ty, origin: None })
    }

    /// Returns the type of a value.
    pub(crate) fn ty(&self, v: Value) -> Type {
        self.values[v].ty
    }

    /// Returns the value that a guarded value was at first.
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

    /// Returns what is known of a value that is of one of two types.
    pub(crate) fn join(self, other: Type) -> Type {
        if self == other { self } else { Type::Any }
    }
}

impl Op {
    /// Returns the values that it reads, three at most.
    pub(crate) fn args(&self) -> impl Iterator<Item = Value> + use<> {
        let (mut op, mut found, mut count) = (*self, [None; 3], 0);
        op.map(|v| {
            found[count] = Some(v);
            count += 1;
            v
        });
        found.into_iter().flatten()
    }

    /// Replaces the values that it reads.
    pub(crate) fn map(&mut self, mut f: impl FnMut(Value) -> Value) {
        use Op::*;
        match self {
            Integer(_) | Float(_) | Primitive(_) | Str(_) | Register(_) | Poll(..)
            | FastPath(_) | Generic(_) | Call(_) => {}
            Upvalue(closure, _) | Global(closure, _) => {
                if let Some(closure) = closure {
                    *closure = f(*closure);
                }
            }
            SetUpvalue(closure, _, v) | CheckUpvalue(closure, _, v) | CheckGlobal(closure, v) => {
                if let Some(closure) = closure {
                    *closure = f(*closure);
                }
                *v = f(*v);
            }
            SetRegister(_, v)
            | GuardMethod(v, ..)
            | GuardLibrary(v, ..)
            | Inline(_, v)
            | Guard(v, ..)
            | Speculate(v, ..)
            | GuardShape(v, ..)
            | ToFloat(v)
            | NumberToFloat(v, _)
            | NumberToInt(v, _)
            | HasTag(v, _)
            | HasShape(v, _)
            | IsTrue(v)
            | Not(v)
            | Field(v, ..)
            | FieldOf(v, ..)
            | ChainField(v, ..)
            | Length(v, _)
            | IsInteger(v, _) => *v = f(*v),
            IntArith(_, a, b, _)
            | FloatArith(_, a, b)
            | Rounds(a, b)
            | CompareInt(_, a, b)
            | CompareFloat(_, a, b)
            | Same(a, b)
            | GuardNotBothInt(a, b, _)
            | SetField(a, _, b, ..)
            | Number(a, b, ..)
            | IsString(a, b)
            | CheckField(a, b)
            | Equal(a, b, _)
            | AddField(a, b, ..)
            | SetClass(a, b, _)
            | Element(a, b, _)
            | ElementOrNil(a, b, _) => (*a, *b) = (f(*a), f(*b)),
            SetElement(a, b, c, _) => (*a, *b, *c) = (f(*a), f(*b), f(*c)),
            Library(_, args, _) => args.iter_mut().flatten().for_each(|v| *v = f(*v)),
        }
    }

    /// Returns the state in which it exits, or that it stores home.
    pub(crate) fn state(&self) -> Option<State> {
        use Op::*;
        match *self {
            IntArith(Operator::Mod | Operator::IDiv, _, _, s)
            | Guard(_, _, s)
            | Speculate(_, _, s)
            | GuardShape(_, _, s)
            | GuardMethod(_, _, s)
            | GuardLibrary(_, _, s)
            | Library(_, _, s)
            | NumberToFloat(_, s)
            | NumberToInt(_, s)
            | GuardNotBothInt(_, _, s)
            | Field(_, _, _, s)
            | FieldOf(_, _, _, s)
            | SetField(_, _, _, _, s)
            | ChainField(_, _, s)
            | Number(_, _, _, s)
            | Element(_, _, s)
            | ElementOrNil(_, _, s)
            | Length(_, s)
            | Equal(_, _, s)
            | AddField(_, _, _, s)
            | SetElement(_, _, _, s)
            | SetClass(_, _, s)
            | Global(_, s)
            | Poll(s, _)
            | FastPath(s)
            | Generic(s)
            | Call(s) => Some(s),
            _ => None,
        }
    }

    /// Returns whether it is not needed where its result is not: it has no effect, and exits at
    /// most where the result would not be what was speculated.
    pub(crate) fn is_removable(&self) -> bool {
        use Op::*;
        match self {
            IntArith(operator, ..) => !matches!(operator, Operator::Mod | Operator::IDiv),
            Speculate(..) | Rounds(..) | Integer(_) | Float(_) | Primitive(_) | Str(_)
            | Register(_) | Upvalue(..) | FloatArith(..) | ToFloat(_) | CompareInt(..)
            | CompareFloat(..) | Same(..) | HasTag(..) | HasShape(..) | IsString(..)
            | IsInteger(..) | IsTrue(_) | Not(_) => true,
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

    /// Returns the targets, to be changed.
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

    /// Returns the state in which it exits, or that it stores home.
    pub(crate) fn state(&self) -> Option<State> {
        match *self {
            End::Exit(s) | End::Generic(s, _) => Some(s),
            _ => None,
        }
    }
}
