//! Full userdata: a host value with a metatable and user values.

use std::any::{Any, TypeId};
use std::cell::Cell;
use std::ptr::null_mut;

use crate::header::{GcHeader, Kind};
use crate::heap::Memory;
use crate::table::Table;
use crate::value::{Tag, Value};

/// A userdata. Boxed outside the blocks, as it owns a Rust value that must be dropped.
#[repr(C)]
pub struct Userdata {
    /// `word` is the size in bytes of the host's value, as the collector counts it.
    pub header: GcHeader,
    /// Its metatable, or null.
    pub meta: *mut Table,
    /// User values (manual 4.7, `lua_setiuservalue`).
    pub user_values: Box<[Value]>,
    /// The host's value; `None` once taken by a finalizer, and in userdata with a block.
    pub data: Option<Box<dyn Any>>,
    /// The memory of userdata with [`Userdata::BLOCK`], from the memory of the heap and with the
    /// alignment of C's `malloc`; null in others. It is never moved, and never empty, so that its
    /// address identifies the userdata.
    pub block: *mut u8,
}

/// Returns the number of bytes to allocate for a block of `size` bytes.
fn block_bytes(size: u32) -> usize {
    (size as usize).max(1).next_multiple_of(16)
}

impl Userdata {
    /// `header.aux` of userdata whose data begins with a [`CellHead`].
    pub const CELL: u8 = 1;
    /// `header.aux` of userdata that have a block of memory, as C makes them. The size in bytes is
    /// in `header.word`.
    pub const BLOCK: u8 = 2;

    /// Creates a userdata that owns `data`, with `n` user values.
    pub(crate) fn new(data: Box<dyn Any>, n: usize) -> Userdata {
        let header =
            GcHeader { kind: Kind::Userdata, mark: 0, flags: 0, aux: 0, word: size(&data) };
        let user_values = vec![Value::NIL; n].into_boxed_slice();
        Userdata { header, meta: null_mut(), user_values, data: Some(data), block: null_mut() }
    }

    /// Creates a userdata with a block of `size` bytes, all zero, and `n` user values. `None` if
    /// there is no memory for it. It is freed by [`Userdata::free`].
    pub(crate) fn with_block(memory: &mut Memory, size: u32, n: usize) -> Option<Userdata> {
        let header =
            GcHeader { kind: Kind::Userdata, mark: 0, flags: 0, aux: Userdata::BLOCK, word: size };
        let mut values = Vec::new();
        values.try_reserve_exact(n).ok()?;
        values.resize(n, Value::NIL);
        // SAFETY: the size is not 0, and the memory is as large.
        let block = unsafe {
            let block = memory.alloc_or_null(block_bytes(size));
            if block.is_null() {
                return None;
            }
            block.expose_provenance();
            block.write_bytes(0, block_bytes(size));
            block
        };
        let user_values = values.into_boxed_slice();
        Some(Userdata { header, meta: null_mut(), user_values, data: None, block })
    }

    /// Drops a userdata and frees its block.
    ///
    /// # Safety
    /// `u` is a live userdata in memory of the heap, which `memory` has allocated.
    pub(crate) unsafe fn free(memory: &mut Memory, u: *mut Userdata) {
        let block = (*u).block;
        if !block.is_null() {
            memory.free(block, block_bytes((*u).header.word));
        }
        memory.drop(u);
    }

    /// Returns how many bytes the userdata keeps alive: its own, its user values, and the host's
    /// value without what that owns in turn.
    pub(crate) fn bytes(&self) -> usize {
        // The size of the host's value is recorded, as the value may be borrowed mutably.
        size_of::<Userdata>() + size_of_val(&*self.user_values) + self.header.word as usize
    }

    /// Replaces the host's value. Returns the old one, and by how many bytes the new one is larger,
    /// which the caller reports to the heap
    /// ([`Heap::note_external`](crate::heap::Heap::note_external)).
    pub fn replace_data(&mut self, data: Box<dyn Any>) -> (Option<Box<dyn Any>>, isize) {
        let before = std::mem::replace(&mut self.header.word, size(&data));
        let growth = self.header.word as isize - before as isize;
        (self.data.replace(data), growth)
    }
}

/// Returns the size in bytes of a host value, or the largest that is counted.
fn size(data: &Box<dyn Any>) -> u32 {
    u32::try_from(size_of_val(&**data)).unwrap_or(u32::MAX)
}

impl Value {
    /// Makes a userdata.
    #[inline(always)]
    pub fn userdata(p: *mut Userdata) -> Value {
        Value::object(p, Tag::USERDATA)
    }
    /// Returns the payload as a userdata.
    #[inline(always)]
    pub fn as_userdata(self) -> *mut Userdata {
        self.as_ptr()
    }
}

/// The head of host values of the embedding interface, which are in userdata whose header has
/// [`Userdata::CELL`].
#[repr(C)]
pub struct CellHead {
    /// The type of the value.
    pub id: TypeId,
    /// The number of shared borrows, or one of the constants.
    pub borrow: Cell<isize>,
}

impl CellHead {
    /// Mutably borrowed.
    pub const EXCLUSIVE: isize = -1;
    /// The value was taken out.
    pub const TAKEN: isize = isize::MIN;

    /// Begins a shared borrow.
    ///
    /// # Errors
    /// Returns the conflicting state: [`CellHead::TAKEN`] or [`CellHead::EXCLUSIVE`].
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
    /// Returns the conflicting state: [`CellHead::TAKEN`] or the number of borrows.
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

    /// Returns whether the value is borrowed.
    pub fn is_borrowed(&self) -> bool {
        !matches!(self.borrow.get(), 0 | CellHead::TAKEN)
    }
}
