//! What an exit needs to continue in the interpreter or in baseline code.

use super::{Frame, Metatable, Value};
use crate::entity::{Pc, Reg};

/// The state of a frame, and of its callers' frames, before a bytecode instruction.
pub(crate) struct FrameState {
    pub(crate) frame: Frame,
    pub(crate) pc: Pc,
    /// The values of registers of the frame and of its callers' frames. Other registers are in
    /// their home slots, or dead.
    pub(crate) registers: Vec<(Reg, Value)>,
    /// Tables that are not allocated until the code exits in this state. Each comes after the
    /// tables to which its fields refer.
    pub(crate) virtuals: Vec<VirtualTable>,
    /// Closures that are not allocated until the code exits in this state.
    pub(crate) closures: Vec<VirtualClosure>,
}

/// A closure that is allocated only at exits. The outermost function creates it.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct VirtualClosure {
    /// The registers that hold it.
    pub(crate) registers: Vec<Reg>,
    /// The number of its function among the inner functions of the outermost one.
    pub(crate) inner: usize,
}

/// A table that is allocated only at exits; the code holds the values of its fields.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct VirtualTable {
    /// The registers that hold it.
    pub(crate) registers: Vec<Reg>,
    /// The frame and the instruction that allocate it.
    pub(crate) site: (Frame, Pc),
    /// The number of its slots for fields.
    pub(crate) slots: usize,
    /// The fields, each with an instruction that stores it, and its frame.
    pub(crate) fields: Vec<((Frame, Pc), Content)>,
    pub(crate) metatable: Option<Metatable>,
}

/// The content of a field of a virtual table.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Content {
    Value(Value),
    /// The virtual table with this number in the same state.
    Table(usize),
}

impl FrameState {
    /// Returns the state of a frame before an instruction, with these values of registers.
    pub(crate) fn new(frame: Frame, pc: Pc, registers: Vec<(Reg, Value)>) -> FrameState {
        FrameState { frame, pc, registers, virtuals: Vec::new(), closures: Vec::new() }
    }

    /// Returns whether it contains tables or closures that are not allocated until the code exits.
    pub(crate) fn has_virtuals(&self) -> bool {
        !self.virtuals.is_empty() || !self.closures.is_empty()
    }

    /// Returns the values to which it refers.
    pub(crate) fn values(&self) -> impl Iterator<Item = Value> {
        let registers = self.registers.iter().map(|&(_, v)| v);
        registers.chain(self.virtuals.iter().flat_map(VirtualTable::values))
    }
}

impl VirtualClosure {
    /// Returns the number of slots that describe a closure held by this number of registers.
    pub(crate) fn size(registers: usize) -> usize {
        2 + registers
    }
}

impl VirtualTable {
    /// Returns the number of slots that describe a table with this number of fields.
    pub(crate) fn size(fields: usize) -> usize {
        3 + 2 * fields
    }

    /// Returns the values of which it consists.
    pub(crate) fn values(&self) -> impl Iterator<Item = Value> {
        let fields = self.fields.iter().filter_map(|&(_, content)| match content {
            Content::Value(v) => Some(v),
            Content::Table(_) => None,
        });
        fields.chain(self.metatable.map(Metatable::table))
    }

    /// Replaces the values of which it consists.
    pub(crate) fn map(&mut self, mut f: impl FnMut(Value) -> Value) {
        for (_, content) in &mut self.fields {
            if let Content::Value(v) = content {
                *v = f(*v);
            }
        }
        if let Some(metatable) = &mut self.metatable {
            let v = metatable.table_mut();
            *v = f(*v);
        }
    }
}
