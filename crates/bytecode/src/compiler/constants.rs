//! The constants of one function under construction, each value once.

use std::collections::HashMap;

use super::error::{Limit, Result};
use super::func_state::FuncState;
use crate::instr::Instr;
use crate::proto::Constant;

/// Identity of a constant: floats by their bits, so that 0.0, -0.0 and 0 stay apart.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Key<'c> {
    Nil,
    Bool(bool),
    Integer(i64),
    Float(u64),
    Str(&'c [u8]),
}

impl Key<'_> {
    fn constant(self) -> Constant {
        match self {
            Key::Nil => Constant::Nil,
            Key::Bool(b) => Constant::Bool(b),
            Key::Integer(i) => Constant::Integer(i),
            Key::Float(bits) => Constant::Float(f64::from_bits(bits)),
            Key::Str(text) => Constant::Str(text.into()),
        }
    }
}

/// Constants so far.
#[derive(Default)]
pub(super) struct Constants<'c> {
    list: Vec<Constant>,
    index: HashMap<Key<'c>, u32>,
}

impl Constants<'_> {
    pub(super) fn into_list(self) -> Box<[Constant]> {
        self.list.into()
    }
}

impl<'c> FuncState<'c> {
    /// The index of a constant, added if it is new.
    pub(super) fn constant(&mut self, key: Key<'c>) -> Result<u32> {
        if let Some(&index) = self.constants.index.get(&key) {
            return Ok(index);
        }
        let index = self.constants.list.len() as u32;
        if index > Instr::MAX_AX {
            return self.exceeded(Limit::Constants);
        }
        self.constants.list.push(key.constant());
        self.constants.index.insert(key, index);
        Ok(index)
    }

    /// Whether constant `index` is a string short enough for a field instruction.
    pub(super) fn is_field_name(&self, index: u32) -> bool {
        index <= 0xFF
            && matches!(&self.constants.list[index as usize], Constant::Str(s) if s.len() <= crate::MAX_FIELD_NAME)
    }
}
