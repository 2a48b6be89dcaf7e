//! The constants of one function under construction, each of which is stored once.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use perilune_syntax::Arena;

use super::list::{FEW, List};
use crate::proto::Constant;

/// Identity of a constant. Floats are compared by their bits, so that 0.0, -0.0 and 0 remain
/// different.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Key<'c> {
    Nil,
    Bool(bool),
    Integer(i64),
    Float(u64),
    Str(&'c [u8]),
}

/// The constants collected so far.
pub(super) struct Constants<'c> {
    list: List<'c, Constant>,
    keys: List<'c, Key<'c>>,
    /// Numbers by key, once there are more than [`FEW`] constants; fewer are searched one by one.
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

    /// Returns the number of the constant, if there is one with this identity.
    pub(super) fn find(&self, key: Key<'c>) -> Option<u32> {
        if self.keys.len() <= FEW {
            return self.keys.iter().position(|k| *k == key).map(|i| i as u32);
        }
        self.index.get(&key).copied()
    }

    /// Adds a new constant as number `index`.
    pub(super) fn add(&mut self, key: Key<'c>, constant: Constant, index: u32) {
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
