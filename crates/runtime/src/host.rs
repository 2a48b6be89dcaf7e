//! What a state keeps for the host that embeds it: values that handles refer to, and how its own values begin.

use std::any::TypeId;
use std::cell::Cell;

use crate::value::Value;

/// No slot.
const NONE: u32 = u32::MAX;

struct Slot {
    /// While the slot is free: the number of the next free one, as an integer.
    value: Value,
    /// Handles that refer to it; 0: it is free.
    count: u32,
}

/// Values held by handles of the host: slots with counts. The collector takes them as roots.
pub struct HostRoots {
    slots: Vec<Slot>,
    free: u32,
}

impl Default for HostRoots {
    fn default() -> HostRoots {
        HostRoots { slots: Vec::new(), free: NONE }
    }
}

impl HostRoots {
    /// Keeps a value in a slot with a count of 1.
    ///
    /// # Panics
    /// With more than 2^32 - 1 slots.
    #[inline]
    pub fn insert(&mut self, value: Value) -> u32 {
        if self.free != NONE {
            let i = self.free;
            let slot = &mut self.slots[i as usize];
            self.free = slot.value.as_int() as u32;
            *slot = Slot { value, count: 1 };
            return i;
        }
        self.push(value)
    }

    #[cold]
    fn push(&mut self, value: Value) -> u32 {
        let i = u32::try_from(self.slots.len()).expect("slots for handles");
        assert!(i != NONE, "slots for handles");
        self.slots.push(Slot { value, count: 1 });
        i
    }

    /// The value of a slot.
    ///
    /// # Panics
    /// If there is no such slot.
    #[inline(always)]
    pub fn get(&self, i: u32) -> Value {
        self.slots[i as usize].value
    }

    /// Puts another value in a slot.
    ///
    /// # Panics
    /// If there is no such slot.
    #[inline]
    pub fn set(&mut self, i: u32, value: Value) {
        let slot = &mut self.slots[i as usize];
        debug_assert!(slot.count > 0);
        slot.value = value;
    }

    /// One more handle refers to the slot.
    ///
    /// # Panics
    /// If there is no such slot, or with 2^32 handles.
    #[inline(always)]
    pub fn retain(&mut self, i: u32) {
        let slot = &mut self.slots[i as usize];
        debug_assert!(slot.count > 0);
        slot.count = slot.count.checked_add(1).expect("handles to one value");
    }

    /// One handle less refers to the slot; without any it is free.
    ///
    /// # Panics
    /// If there is no such slot.
    #[inline(always)]
    pub fn release(&mut self, i: u32) {
        let slot = &mut self.slots[i as usize];
        debug_assert!(slot.count > 0);
        slot.count -= 1;
        if slot.count == 0 {
            slot.value = Value::int(i64::from(self.free));
            self.free = i;
        }
    }

    /// Slots in use.
    pub fn len(&self) -> usize {
        self.slots.iter().filter(|s| s.count > 0).count()
    }

    /// No slot in use?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All values; those of free slots are integers.
    pub(crate) fn values(&self) -> impl Iterator<Item = Value> + '_ {
        self.slots.iter().map(|s| s.value)
    }
}

/// What host values of the embedding interface begin with: userdata whose header has [`crate::userdata::Userdata::CELL`].
#[repr(C)]
pub struct CellHead {
    /// Type of the value.
    pub id: TypeId,
    /// Shared borrows, or one of the constants.
    pub borrow: Cell<isize>,
}

impl CellHead {
    /// Borrowed for writing.
    pub const EXCLUSIVE: isize = -1;
    /// The value was taken out.
    pub const TAKEN: isize = isize::MIN;

    /// Begins a shared borrow.
    ///
    /// # Errors
    /// What stands against it: [`CellHead::TAKEN`] or [`CellHead::EXCLUSIVE`].
    #[inline(always)]
    pub fn begin_shared(&self) -> Result<(), isize> {
        let n = self.borrow.get();
        if n < 0 {
            return Err(n);
        }
        self.borrow.set(n + 1);
        Ok(())
    }

    /// Begins an exclusive borrow.
    ///
    /// # Errors
    /// What stands against it: [`CellHead::TAKEN`] or the number of borrows.
    #[inline(always)]
    pub fn begin_exclusive(&self) -> Result<(), isize> {
        let n = self.borrow.get();
        if n != 0 {
            return Err(n);
        }
        self.borrow.set(CellHead::EXCLUSIVE);
        Ok(())
    }

    /// Ends a borrow.
    #[inline(always)]
    pub fn end(&self) {
        let n = self.borrow.get();
        debug_assert!(n != 0 && n != CellHead::TAKEN);
        self.borrow.set(if n < 0 { 0 } else { n - 1 });
    }

    /// Borrowed in either way?
    pub fn is_borrowed(&self) -> bool {
        !matches!(self.borrow.get(), 0 | CellHead::TAKEN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_used_again() {
        let mut roots = HostRoots::default();
        let a = roots.insert(Value::int(1));
        let b = roots.insert(Value::int(2));
        roots.retain(a);
        roots.release(a);
        assert_eq!((roots.get(a).as_int(), roots.get(b).as_int(), roots.len()), (1, 2, 2));
        roots.release(a);
        roots.release(b);
        assert!(roots.is_empty());
        assert_eq!(roots.insert(Value::int(3)), b);
        assert_eq!(roots.insert(Value::int(4)), a);
        assert_eq!(roots.insert(Value::int(5)), 2);
    }
}
