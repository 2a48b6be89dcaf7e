//! The immutable code of one function, shared by all states of an engine.

use std::any::Any;
use std::sync::{Arc, OnceLock};

use crate::instr::Instr;

/// One function's code. `Send + Sync`, holds no pointer into any heap.
pub struct Proto {
    /// The instructions, verified.
    pub code: Box<[Instr]>,
    /// Constants.
    pub constants: Box<[Constant]>,
    /// Functions defined directly inside.
    pub protos: Box<[Arc<Proto>]>,
    /// Upvalues.
    pub upvalues: Box<[UpvalDesc]>,
    /// Source line of each instruction; empty when stripped.
    pub lines: Box<[u32]>,
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
    /// Takes extra arguments; the first instruction is then VARARGPREP.
    pub is_vararg: bool,
    /// Number of registers that a frame needs.
    pub max_stack: u8,
    /// The bytes of all strings and names.
    pub text: Box<[u8]>,
    /// What the compiler of machine code keeps for the function.
    pub method: MethodCell,
}

impl Proto {
    /// A string constant or name of this function.
    ///
    /// # Panics
    /// If `text` is of another function and reaches beyond this one's bytes.
    pub fn str(&self, text: Text) -> &[u8] {
        text.of(&self.text)
    }
}

/// A string or name of a function: a place in [`Proto::text`]. One allocation holds them all, as functions have many short ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Text {
    start: u32,
    len: u32,
}

impl Text {
    /// The place of `len` bytes that come after `start` others; `None` beyond 4 GB.
    pub(crate) fn place(start: usize, len: usize) -> Option<Text> {
        u32::try_from(start.checked_add(len)?).ok()?;
        Some(Text { start: start as u32, len: len as u32 })
    }

    /// The bytes in the text it is of.
    pub(crate) fn of(self, text: &[u8]) -> &[u8] {
        &text[self.start as usize..][..self.len as usize]
    }

    /// Number of bytes.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(self) -> usize {
        self.len as usize
    }
}

/// A place for what another part of the engine attaches to a function, once; it lives as long as the function.
#[derive(Default)]
pub struct MethodCell(OnceLock<Arc<dyn Any + Send + Sync>>);

impl MethodCell {
    /// What is attached, made by `make` if nothing is.
    pub fn get_or_init(
        &self,
        make: impl FnOnce() -> Arc<dyn Any + Send + Sync>,
    ) -> &Arc<dyn Any + Send + Sync> {
        self.0.get_or_init(make)
    }

    /// What is attached.
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

/// How a closure finds one upvalue when it is made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UpvalDesc {
    /// Variable name; `None` when stripped.
    pub name: Option<Text>,
    /// It is a register of the enclosing function (else an upvalue of it).
    pub in_stack: bool,
    /// Which.
    pub index: u8,
    /// The variable is never assigned after its initialisation.
    pub constant: bool,
}

/// Debug information of one local variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LocalDesc {
    /// Name; `(for state)` for the hidden ones.
    pub name: Text,
    /// First pc at which it is active.
    pub start_pc: u32,
    /// First pc at which it is dead.
    pub end_pc: u32,
    /// Its register. (PUC derives it by counting; kept here because it is also an operand of the verifier.)
    pub register: u8,
}

// Compile threads and all states of an engine read the same protos.
const _: () = {
    const fn is_shared<T: Send + Sync>() {}
    is_shared::<Proto>();
};
