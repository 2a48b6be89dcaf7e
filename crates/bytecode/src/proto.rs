//! The immutable code of one function, shared by all states of an engine.

use std::any::Any;
use std::sync::{Arc, OnceLock};

use smallvec::SmallVec;

use crate::instr::Instr;

/// One function's code. It is `Send + Sync` and has no pointer into any heap.
///
/// Lists that are short in most functions are stored inline, since many programs load many short
/// functions.
pub struct Proto {
    /// The instructions, verified.
    pub code: SmallVec<[Instr; 8]>,
    /// Constants.
    pub constants: Box<[Constant]>,
    /// Functions defined directly inside.
    pub protos: Box<[Arc<Proto>]>,
    /// Upvalues.
    pub upvalues: SmallVec<[UpvalDesc; 2]>,
    /// Source line of each instruction; empty when stripped.
    pub lines: SmallVec<[u32; 8]>,
    /// Named local variables with their ranges, in order of declaration; empty when stripped.
    pub locals: Box<[LocalDesc]>,
    /// Chunk name as given to `load` (`@file`, `=name` or text); `None` when stripped.
    pub source: Option<Arc<[u8]>>,
    /// Line of `function`; 0 for a main function.
    pub line_defined: u32,
    /// Line of `end`; 0 for a main function.
    pub last_line: u32,
    /// Number of named parameters.
    pub num_params: u8,
    /// Whether it takes extra arguments; the first instruction is then VARARGPREP.
    pub is_vararg: bool,
    /// Number of registers that a frame needs.
    pub max_stack: u8,
    /// The bytes of all strings and names.
    pub text: SmallVec<[u8; 16]>,
    /// Data that the compilers to machine code attach to the function.
    pub method: MethodCell,
}

impl Proto {
    /// Returns whether closures that the function creates share registers with it.
    pub fn shares_registers(&self) -> bool {
        self.protos.iter().flat_map(|p| &p.upvalues).any(|u| u.in_stack)
    }

    /// Returns whether upvalue `n` is named `_ENV`, so that instructions that access globals may
    /// access fields of its value.
    pub fn is_environment(&self, n: usize) -> bool {
        self.upvalues
            .get(n)
            .and_then(|desc| desc.name)
            .is_some_and(|name| self.str(name) == b"_ENV")
    }

    /// Returns a string constant or name of this function.
    ///
    /// # Panics
    /// Panics if `text` belongs to another function and exceeds this one's bytes.
    pub fn str(&self, text: Text) -> &[u8] {
        text.of(&self.text)
    }

    /// Returns approximately how many bytes of memory this function and all functions inside it
    /// take.
    pub fn bytes(&self) -> usize {
        fn outside<A: smallvec::Array>(list: &SmallVec<A>) -> usize {
            if list.spilled() { size_of_val(&**list) } else { 0 }
        }
        size_of::<Proto>()
            + outside(&self.code)
            + outside(&self.lines)
            + outside(&self.upvalues)
            + outside(&self.text)
            + size_of_val(&*self.constants)
            + size_of_val(&*self.locals)
            + self.protos.iter().map(|inner| inner.bytes()).sum::<usize>()
    }
}

/// A string or name of a function: a range in [`Proto::text`]. One allocation holds all of them,
/// since functions have many short ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Text {
    start: u32,
    len: u32,
}

impl Text {
    /// Returns the range of `len` bytes that start at `start`; `None` beyond 4 GB.
    pub(crate) fn place(start: usize, len: usize) -> Option<Text> {
        u32::try_from(start.checked_add(len)?).ok()?;
        Some(Text { start: start as u32, len: len as u32 })
    }

    /// Returns the bytes in `text`, to which it belongs.
    pub(crate) fn of(self, text: &[u8]) -> &[u8] {
        &text[self.start as usize..][..self.len as usize]
    }

    /// Returns the number of bytes.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(self) -> usize {
        self.len as usize
    }
}

/// A place for data that another part of the engine attaches to a function once. The data lives as
/// long as the function.
#[derive(Default)]
pub struct MethodCell(OnceLock<Arc<dyn Any + Send + Sync>>);

impl MethodCell {
    /// Returns the attached data, after attaching the result of `make` if there is none.
    pub fn get_or_init(
        &self,
        make: impl FnOnce() -> Arc<dyn Any + Send + Sync>,
    ) -> &Arc<dyn Any + Send + Sync> {
        self.0.get_or_init(make)
    }

    /// Returns the attached data.
    pub fn get(&self) -> Option<&Arc<dyn Any + Send + Sync>> {
        self.0.get()
    }
}

/// A constant.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Constant {
    /// `nil`
    Nil,
    /// `true` or `false`
    Bool(bool),
    /// Integer.
    Integer(i64),
    /// Float.
    Float(f64),
    /// String.
    Str(Text),
}

/// Describes where a new closure finds one upvalue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UpvalDesc {
    /// Variable name; `None` when stripped.
    pub name: Option<Text>,
    /// Whether it is a register of the enclosing function, rather than one of its upvalues.
    pub in_stack: bool,
    /// The index of the register or upvalue.
    pub index: u8,
    /// Whether the variable is never assigned after its initialization, so that only debug
    /// functions can change it. Always false in functions from binary chunks, whose contents cannot
    /// be trusted.
    pub constant: bool,
    /// Whether the variable is constant and holds the new closure itself, like the variable of a
    /// recursive `local function`.
    pub itself: bool,
}

/// Debug information of one local variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LocalDesc {
    /// Name; `(for state)` for hidden variables.
    pub name: Text,
    /// First pc at which it is active.
    pub start_pc: u32,
    /// First pc at which it is no longer active.
    pub end_pc: u32,
    /// Its register. (PUC derives it by counting. It is stored here because the verifier also
    /// checks it.)
    pub register: u8,
}

// Compile threads and all states of an engine read the same protos.
const _: () = {
    const fn is_shared<T: Send + Sync>() {}
    is_shared::<Proto>();
};
