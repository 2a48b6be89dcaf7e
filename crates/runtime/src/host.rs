//! The values to which handles of the host refer.

use crate::heap::has_room;
use crate::value::Value;

/// The index that stands for no slot.
const NONE: u32 = u32::MAX;

struct Slot {
    /// The value. A free slot holds the index of the next free one, as an integer.
    value: Value,
    /// The number of handles that refer to the slot; 0 if the slot is free.
    count: u32,
}

/// Values held by handles of the host, in counted slots. They are roots of the collector.
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
    /// Stores a value in a free slot with a count of 1, if there is one.
    #[inline]
    pub(crate) fn reuse(&mut self, value: Value) -> Option<u32> {
        let i = self.free;
        if i == NONE {
            return None;
        }
        let slot = &mut self.slots[i as usize];
        self.free = slot.value.as_int() as u32;
        *slot = Slot { value, count: 1 };
        Some(i)
    }

    /// Returns whether there is room for another slot, after enlarging the list if that is
    /// necessary and possible.
    pub(crate) fn have_room(&mut self) -> bool {
        has_room(&mut self.slots)
    }

    /// Stores a value in a new slot with a count of 1.
    ///
    /// # Panics
    /// Panics with more than 2^32 - 1 slots.
    pub(crate) fn push(&mut self, value: Value) -> u32 {
        let i = u32::try_from(self.slots.len()).expect("slots for handles");
        assert!(i != NONE, "slots for handles");
        self.slots.push(Slot { value, count: 1 });
        i
    }

    /// Returns the value of a slot.
    ///
    /// # Panics
    /// Panics if there is no such slot.
    #[inline(always)]
    pub fn get(&self, i: u32) -> Value {
        self.slots[i as usize].value
    }

    /// Replaces the value of a slot.
    ///
    /// # Panics
    /// Panics if there is no such slot.
    #[inline]
    pub fn set(&mut self, i: u32, value: Value) {
        let slot = &mut self.slots[i as usize];
        debug_assert!(slot.count > 0);
        slot.value = value;
    }

    /// Adds a reference to the slot.
    ///
    /// # Panics
    /// Panics if there is no such slot, or with 2^32 handles.
    #[inline(always)]
    pub fn retain(&mut self, i: u32) {
        let slot = &mut self.slots[i as usize];
        debug_assert!(slot.count > 0);
        slot.count = slot.count.checked_add(1).expect("handles to one value");
    }

    /// Removes a reference to the slot, and frees it after the last one.
    ///
    /// # Panics
    /// Panics if there is no such slot.
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

    /// Returns the number of slots in use.
    pub fn len(&self) -> usize {
        self.slots.iter().filter(|s| s.count > 0).count()
    }

    /// Returns whether no slot is in use.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns all values; those of free slots are integers.
    pub(crate) fn values(&self) -> impl Iterator<Item = Value> + '_ {
        self.slots.iter().map(|s| s.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_used_again() {
        let mut roots = HostRoots::default();
        let a = roots.push(Value::int(1));
        let b = roots.push(Value::int(2));
        roots.retain(a);
        roots.release(a);
        assert_eq!((roots.get(a).as_int(), roots.get(b).as_int(), roots.len()), (1, 2, 2));
        roots.release(a);
        roots.release(b);
        assert!(roots.is_empty());
        assert_eq!(roots.reuse(Value::int(3)), Some(b));
        assert_eq!(roots.reuse(Value::int(4)), Some(a));
        assert_eq!(roots.reuse(Value::int(5)), None);
    }
}
