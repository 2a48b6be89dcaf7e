//! Full userdata: a host value with a metatable and user values.

use std::any::{Any, TypeId};
use std::cell::Cell;
use std::ops::{Deref, DerefMut};
use std::ptr::{NonNull, null_mut};

use crate::header::{GcHeader, Kind};
use crate::heap::Memory;
use crate::table::Table;
use crate::value::{Tag, Value};

/// A userdata. If it owns a Rust value, which must be dropped, or a block that may grow, it is
/// boxed outside the blocks of the heap ([`Kind::Userdata`]). One that C code makes with a fixed
/// size ([`Kind::Memory`]) is followed by its user values and its memory.
#[repr(C)]
pub struct Userdata {
    /// `word` is the size in bytes of the host's value, as the collector counts it, or of the
    /// block.
    pub header: GcHeader,
    /// The metatable, or null.
    pub meta: *mut Table,
    /// User values (manual 4.7, `lua_setiuservalue`).
    pub user_values: UserValues,
    /// The host's value; `None` after a finalizer has taken it, and in userdata with a block.
    pub data: Option<Box<dyn Any>>,
    /// The block of userdata with [`Userdata::BLOCK`], with the alignment of C's `malloc`:
    /// allocated from the heap's memory, or a part of the object. Null in others. Its address
    /// identifies the userdata.
    pub block: *mut u8,
}

/// The user values of a userdata: a slice that it owns, or that is a part of the object.
pub struct UserValues {
    first: NonNull<Value>,
    count: usize,
}

impl UserValues {
    /// Takes ownership of a slice.
    fn owned(values: Box<[Value]>) -> UserValues {
        let count = values.len();
        UserValues { first: NonNull::from(Box::leak(values)).cast(), count }
    }

    /// Frees the slice, if it is owned.
    unsafe fn free(&mut self) {
        let values = std::ptr::slice_from_raw_parts_mut(self.first.as_ptr(), self.count);
        *self = UserValues { first: NonNull::dangling(), count: 0 };
        drop(Box::from_raw(values));
    }
}

impl Deref for UserValues {
    type Target = [Value];

    #[inline(always)]
    fn deref(&self) -> &[Value] {
        // SAFETY: the slice lives as long as the userdata.
        unsafe { std::slice::from_raw_parts(self.first.as_ptr(), self.count) }
    }
}

impl DerefMut for UserValues {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [Value] {
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts_mut(self.first.as_ptr(), self.count) }
    }
}

/// Returns the number of bytes to allocate for a block of `size` bytes.
const fn block_bytes(size: usize) -> usize {
    if size == 0 { 16 } else { size.next_multiple_of(16) }
}

/// Returns the offset of the memory in userdata that contain their memory and have `n` user values.
/// There is room for at least one, so that each of them can get one.
const fn memory_at(n: usize) -> usize {
    let n = if n == 0 { 1 } else { n };
    (size_of::<Userdata>() + n * size_of::<Value>()).next_multiple_of(16)
}

impl Userdata {
    /// `header.aux` of userdata whose data begins with a [`CellHead`].
    pub const CELL: u8 = 1;
    /// `header.aux` of userdata that have a block of memory, as created by C code. The size in
    /// bytes is in `header.word`.
    pub const BLOCK: u8 = 2;

    /// Creates a userdata that owns `data`, with `n` user values.
    pub(crate) fn new(data: Box<dyn Any>, n: usize) -> Userdata {
        let header =
            GcHeader { kind: Kind::Userdata, mark: 0, flags: 0, aux: 0, word: size(&data) };
        let user_values = UserValues::owned(vec![Value::NIL; n].into_boxed_slice());
        Userdata { header, meta: null_mut(), user_values, data: Some(data), block: null_mut() }
    }

    /// Creates a userdata with a block of `size` bytes that may grow, without user values. `None`
    /// if there is no memory for it. It is freed by [`Userdata::free`].
    pub(crate) fn with_block(memory: &mut Memory, size: u32) -> Option<Userdata> {
        let header =
            GcHeader { kind: Kind::Userdata, mark: 0, flags: 0, aux: Userdata::BLOCK, word: size };
        // SAFETY: the size is not 0.
        let block = unsafe { memory.alloc_or_null(block_bytes(size as usize)) };
        if block.is_null() {
            return None;
        }
        block.expose_provenance();
        let user_values = UserValues::owned(Box::new([]));
        Some(Userdata { header, meta: null_mut(), user_values, data: None, block })
    }

    /// Returns the number of bytes to allocate for a userdata that contains `size` bytes of memory
    /// and has `n` user values.
    pub(crate) fn size_with_memory(size: usize, n: usize) -> usize {
        memory_at(n) + block_bytes(size)
    }

    /// Makes a userdata of a new object of the kind [`Kind::Memory`]. The memory that it contains
    /// is not initialized.
    ///
    /// # Safety
    /// The object has the size that [`Userdata::size_with_memory`] says.
    pub(crate) unsafe fn with_memory(o: *mut GcHeader, size: u32, n: usize) -> *mut Userdata {
        let at = memory_at(n);
        (*o).aux = Userdata::BLOCK;
        (*o).word = size;
        let u = o.cast::<Userdata>();
        // The pointer covers the whole object, as the user values and the memory follow the
        // structure.
        let first = o.cast::<u8>().add(size_of::<Userdata>()).cast::<Value>();
        for i in 0..n {
            first.add(i).write(Value::NIL);
        }
        (&raw mut (*u).meta).write(null_mut());
        let first = NonNull::new_unchecked(first);
        (&raw mut (*u).user_values).write(UserValues { first, count: n });
        (&raw mut (*u).data).write(None);
        let block = o.cast::<u8>().add(at);
        block.expose_provenance();
        (&raw mut (*u).block).write(block);
        u
    }

    /// Returns the size in bytes of a userdata that contains its memory.
    ///
    /// # Safety
    /// `u` is such a userdata, and is live.
    pub(crate) unsafe fn size_in_block(u: *mut Userdata) -> usize {
        Userdata::size_with_memory((*u).header.word as usize, (*u).user_values.count)
    }

    /// Changes the size of a block that may grow, which may move it. Returns false, without an
    /// effect, if there is no memory.
    ///
    /// # Safety
    /// `u` is a live userdata that [`Userdata::with_block`] has made, in `memory`.
    pub(crate) unsafe fn resize(memory: &mut Memory, u: *mut Userdata, size: u32) -> bool {
        debug_assert!((*u).header.kind == Kind::Userdata && !(*u).block.is_null());
        let old = block_bytes((*u).header.word as usize);
        let block = memory.realloc((*u).block, old, block_bytes(size as usize));
        if block.is_null() {
            return false;
        }
        block.expose_provenance();
        (*u).block = block;
        (*u).header.word = size;
        true
    }

    /// Makes room for `n` user values, if there are fewer. Userdata that contain their memory have
    /// room for one.
    ///
    /// # Safety
    /// `u` is live.
    pub(crate) unsafe fn make_user_values(u: *mut Userdata, n: usize) {
        let values = &mut (*u).user_values;
        if values.count >= n {
            return;
        }
        if (*u).header.kind == Kind::Memory {
            if values.count == 0 {
                values.first.write(Value::NIL);
                values.count = 1;
            }
            return;
        }
        let mut more = values.to_vec();
        more.resize(n, Value::NIL);
        values.free();
        *values = UserValues::owned(more.into_boxed_slice());
    }

    /// Drops a boxed userdata and frees its block.
    ///
    /// # Safety
    /// `u` is a live userdata in memory of the heap, which `memory` has allocated.
    pub(crate) unsafe fn free(memory: &mut Memory, u: *mut Userdata) {
        let block = (*u).block;
        if !block.is_null() {
            memory.free(block, block_bytes((*u).header.word as usize));
        }
        (*u).user_values.free();
        memory.drop(u);
    }

    /// Returns how many bytes a boxed userdata keeps alive: its own, its user values, and the
    /// host's value, without the memory that this value owns in turn.
    pub(crate) fn bytes(&self) -> usize {
        // The size of the host's value is recorded, as the value may be borrowed mutably.
        size_of::<Userdata>() + size_of_val(&*self.user_values) + self.header.word as usize
    }

    /// Replaces the host's value. Returns the old one, and the number of bytes by which the new one
    /// is larger, which the caller reports to the heap
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
    /// Makes the value that refers to a userdata.
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

/// The head of a host value of the embedding interface, in userdata whose header has
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
