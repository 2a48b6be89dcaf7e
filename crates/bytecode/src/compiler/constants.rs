//! The constants of one function under construction, each value once.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use perilune_syntax::Arena;

use super::error::{Limit, Result};
use super::func_state::{FEW, FuncState, List};
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

/// Constants so far.
pub(super) struct Constants<'c> {
    list: List<'c, Constant>,
    keys: List<'c, Key<'c>>,
    /// Numbers by key, once there are more than [`FEW`]; those few are searched one by one.
    index: HashMap<Key<'c>, u32, RandomState>,
}

impl<'c> Constants<'c> {
    pub(super) fn new(arena: &'c Arena) -> Constants<'c> {
        Constants {
            list: List::with_capacity_in(FEW, arena),
            keys: List::with_capacity_in(FEW, arena),
            index: HashMap::default(),
        }
    }

    pub(super) fn clear(&mut self) {
        self.list.clear();
        self.keys.clear();
        self.index.clear();
    }

    pub(super) fn list(&self) -> &[Constant] {
        &self.list
    }

    fn find(&self, key: Key<'c>) -> Option<u32> {
        if self.keys.len() <= FEW {
            return self.keys.iter().position(|k| *k == key).map(|i| i as u32);
        }
        self.index.get(&key).copied()
    }

    /// Adds a new constant as number `index`.
    fn add(&mut self, key: Key<'c>, constant: Constant, index: u32) {
        self.list.push(constant);
        self.keys.push(key);
        match self.keys.len() {
            0..=FEW => {}
            n if n == FEW + 1 => self.index.extend(self.keys.iter().copied().zip(0..)),
            _ => {
                self.index.insert(key, index);
            }
        }
    }
}

impl<'c> FuncState<'c> {
    /// The index of a constant, added if it is new.
    pub(super) fn constant(&mut self, key: Key<'c>) -> Result<u32> {
        if let Some(index) = self.constants.find(key) {
            return Ok(index);
        }
        let index = self.constants.list.len() as u32;
        if index > Instr::MAX_AX {
            return self.exceeded(Limit::Constants);
        }
        let constant = match key {
            Key::Nil => Constant::Nil,
            Key::Bool(b) => Constant::Bool(b),
            Key::Integer(i) => Constant::Integer(i),
            Key::Float(bits) => Constant::Float(f64::from_bits(bits)),
            Key::Str(text) => Constant::Str(self.keep(text)?),
        };
        self.constants.add(key, constant, index);
        Ok(index)
    }

    /// Whether constant `index` is a string short enough for a field instruction.
    pub(super) fn is_field_name(&self, index: u32) -> bool {
        index <= 0xFF
            && matches!(self.constants.list[index as usize], Constant::Str(s) if s.len() <= crate::MAX_FIELD_NAME)
    }
}
