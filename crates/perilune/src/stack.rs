//! The VM stack as conversions see it.

use perilune_runtime::native::Cx;
use perilune_runtime::state::{State, poll};
use perilune_runtime::userdata::{CellHead, Userdata};
use perilune_runtime::value::{SlotExt, Tag, Value as Word};

use crate::control::{Entry, FOREIGN, Handle};
use crate::{Error, Lua, Result};

/// An unrooted value that is being passed between Rust and Lua. It must be stored, pushed or
/// returned before any other operation.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct Raw(pub(crate) Word);

/// A state during an operation.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct Stack<'a> {
    pub(crate) st: *mut State,
    pub(crate) lua: &'a Lua,
}

impl<'a> Entry<'a> {
    #[inline(always)]
    pub(crate) fn stack(&self) -> Stack<'a> {
        Stack { st: self.st, lua: self.lua }
    }
}

// SAFETY of all blocks below: P1 (an operation is running, so the state is alive and on this
// thread) and P4.
impl<'a> Stack<'a> {
    #[inline(always)]
    pub(crate) fn cx(self) -> &'a mut Cx {
        // SAFETY: as above; the result is used before the next operation begins.
        unsafe { Cx::from_state(self.st) }
    }

    /// Returns the number of values above the base of the top frame.
    #[inline(always)]
    pub(crate) fn top(self) -> usize {
        // SAFETY: as above.
        unsafe { (*self.st).top.offset_from((*self.st).base) as usize }
    }

    /// Removes the values from number `n` on.
    #[inline(always)]
    pub(crate) fn cut(self, n: usize) {
        debug_assert!(n <= self.top());
        // SAFETY: as above.
        unsafe { (*self.st).top = (*self.st).base.add(n) }
    }

    /// Returns value number `i`.
    ///
    /// # Safety
    /// The value exists.
    #[inline(always)]
    pub(crate) unsafe fn get(self, i: usize) -> Raw {
        Raw((*self.st).base.add(i).get())
    }

    /// Reserves room for `n` more values, and for conversions.
    #[inline(always)]
    pub(crate) fn reserve(self, n: usize) -> Result<()> {
        // SAFETY: as above.
        let room = unsafe { (*self.st).limit.offset_from((*self.st).top) };
        if room < n as isize { self.grow(n) } else { Ok(()) }
    }

    #[cold]
    fn grow(self, n: usize) -> Result<()> {
        let _online = Online::new(self.st);
        // SAFETY: as above; the reclaimer does not walk the stack meanwhile.
        let r = unsafe { State::reserve(self.st, n) };
        r.map_err(|_| {
            // SAFETY: as above.
            unsafe { (*self.st).error = Word::NIL };
            Error::StackError
        })
    }

    /// Pushes a value. There is always room for a few values; for more, call [`Stack::reserve`]
    /// first.
    ///
    /// # Panics
    /// Panics if there is no room.
    #[inline(always)]
    pub(crate) fn push(self, v: Raw) {
        // SAFETY: as above; the room is checked.
        unsafe {
            let top = (*self.st).top;
            assert!(top < (*self.st).hard_limit(), "no room on the VM stack");
            top.put(v.0);
            (*self.st).top = top.add(1);
        }
    }

    /// Performs a safepoint if one is due: a slice of the collector's work, including finalizers.
    /// The caller must hold no unrooted value.
    #[inline(always)]
    pub(crate) fn poll(self) -> Result<()> {
        // SAFETY: as above.
        let bits = unsafe { (*self.st).poll.load(std::sync::atomic::Ordering::Relaxed) };
        if bits & poll::GC != 0 { self.collect() } else { Ok(()) }
    }

    #[cold]
    #[inline(never)]
    fn collect(self) -> Result<()> {
        let _online = Online::new(self.st);
        // SAFETY: as above: all live values are on the stack or in slots of handles.
        unsafe { (*self.st).gc_poll() }.map_err(|_| Error::not_enough_memory())
    }

    /// Returns an error if the last store failed for lack of memory. The caller must hold no
    /// unrooted value.
    #[inline(always)]
    pub(crate) fn check_stored(self) -> Result<()> {
        // SAFETY: as above.
        if unsafe { (*self.st).heap.has_failed() } { self.collect() } else { Ok(()) }
    }

    /// Returns an error unless one object of this number of bytes may be allocated.
    #[inline(always)]
    pub(crate) fn check_room(self, bytes: usize) -> Result<()> {
        if bytes < 1 << 16 { Ok(()) } else { self.check_much(bytes) }
    }

    #[cold]
    fn check_much(self, bytes: usize) -> Result<()> {
        let _online = Online::new(self.st);
        // SAFETY: as above; a safepoint, see [`Stack::poll`].
        let made = bytes < u32::MAX as usize - 64
            && unsafe { State::collecting_for_host(self.st, || (*self.st).make_room(bytes)) };
        if made { Ok(()) } else { Err(Error::not_enough_memory()) }
    }

    /// Creates a string.
    #[inline(always)]
    pub(crate) fn string(self, bytes: &[u8]) -> Result<Raw> {
        self.poll()?;
        self.check_room(bytes.len())?;
        // SAFETY: as above.
        let string = unsafe { (*self.st).intern(bytes) };
        self.check_stored()?;
        Ok(Raw(Word::string(string)))
    }

    /// Creates a handle.
    #[inline(always)]
    pub(crate) fn handle(self, v: Raw) -> Handle {
        // SAFETY: as above: the value was just taken from the state.
        unsafe { Handle::new(&self.lua.control, v.0) }
    }

    /// Returns the value that a handle of this state refers to.
    ///
    /// # Panics
    /// Panics if the handle belongs to another state.
    #[inline(always)]
    pub(crate) fn word(self, h: &Handle) -> Raw {
        assert!(h.is_of(&self.lua.control), "{}", FOREIGN);
        Raw(h.word())
    }

    /// Returns the head of the host cell of a userdata if its value has the type `id`.
    #[inline(always)]
    pub(crate) fn cell_of(self, v: Raw, id: std::any::TypeId) -> Option<*mut CellHead> {
        let head = self.cell(v)?;
        // SAFETY: as above; the head is alive because its userdata is.
        (unsafe { (*head).id } == id).then_some(head)
    }

    /// Returns the head of the host cell that a userdata holds.
    #[inline(always)]
    pub(crate) fn cell(self, v: Raw) -> Option<*mut CellHead> {
        if v.0.tag() != Tag::USERDATA {
            return None;
        }
        let u = v.0.as_userdata();
        // SAFETY: as above; CELL says that the data, if any, begins with a head.
        unsafe {
            if (*u).header.aux != Userdata::CELL {
                return None;
            }
            (&mut (*u).data).as_mut().map(|d| (&raw mut **d).cast())
        }
    }
}

/// Returns the name of a value's type, like [`Value::type_name`](crate::Value::type_name), except
/// that errors are userdata.
pub(crate) fn type_name(v: Word) -> &'static str {
    match v.tag() {
        Tag::INTEGER => "integer",
        Tag::LIGHT => "lightuserdata",
        _ => v.type_name(),
    }
}

/// Marks the state's thread as being inside the state, so that other threads do not walk its
/// stacks.
pub(crate) struct Online(*mut State);

impl Online {
    #[inline(always)]
    pub(crate) fn new(st: *mut State) -> Online {
        // SAFETY: P1.
        if let Some(tier) = unsafe { (&mut (*st).tier).as_mut() } {
            tier.enter();
        }
        Online(st)
    }
}

impl Drop for Online {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: P1: an operation is running.
        if let Some(tier) = unsafe { (&mut (*self.0).tier).as_mut() } {
            tier.leave();
        }
    }
}
