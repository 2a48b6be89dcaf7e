//! Host values inside userdata.

use std::any::TypeId;
use std::cell::{Cell, UnsafeCell};
use std::mem::MaybeUninit;
use std::ptr::null_mut;

use perilune_runtime::userdata::{CellHead, Userdata};

use crate::control::{AnyBox, Control, Local};
use crate::stack::{Raw, Stack};
use crate::sync::XRc;
use crate::{Error, Result};

/// A host value with its type and its borrow count.
#[repr(C)]
pub(crate) struct HostCell<T> {
    head: CellHead,
    /// The address of the value: inside this cell, or outside if a scope borrows it.
    at: Cell<*mut T>,
    local: Local,
    value: UnsafeCell<MaybeUninit<T>>,
}

impl<T> HostCell<T> {
    /// Returns the value.
    ///
    /// # Safety
    /// `this` is alive and the value was not taken.
    #[inline(always)]
    pub(crate) unsafe fn value(this: *mut HostCell<T>) -> *mut T {
        (*this).at.get()
    }
}

impl<T: 'static> HostCell<T> {
    /// Creates a cell that owns its value. `local` says that the value is not known to be `Send`.
    pub(crate) fn boxed(value: T, local: Option<&XRc<Control>>) -> AnyBox {
        let cell = Box::new(HostCell {
            head: CellHead { id: TypeId::of::<T>(), borrow: Cell::new(0) },
            at: Cell::new(null_mut()),
            local: Local(local.cloned()),
            value: UnsafeCell::new(MaybeUninit::new(value)),
        });
        cell.at.set(cell.value.get().cast());
        cell
    }

    /// Creates a cell that borrows a value stored elsewhere, until [`HostCell::forget`]. A `shared`
    /// value cannot be borrowed mutably.
    pub(crate) fn borrowing(at: *mut T, shared: bool, control: &XRc<Control>) -> AnyBox {
        Box::new(HostCell {
            // a shared borrow that never ends
            head: CellHead { id: TypeId::of::<T>(), borrow: Cell::new(isize::from(shared)) },
            at: Cell::new(at),
            local: Local(Some(control.clone())),
            value: UnsafeCell::new(MaybeUninit::uninit()),
        })
    }

    /// Ends the borrow of a value that is stored elsewhere. The cell then counts as taken.
    ///
    /// # Safety
    /// `this` is alive, and only this cell borrows the value.
    pub(crate) unsafe fn forget(this: *mut HostCell<T>) {
        (*this).head.borrow.set(CellHead::TAKEN);
    }

    /// Returns whether the value lies in the cell itself.
    pub(crate) fn is_inside(&self) -> bool {
        std::ptr::eq(self.at.get(), self.value.get().cast())
    }

    /// Returns the cell of a userdata if its value has the type `T`.
    #[inline(always)]
    pub(crate) fn of(s: Stack<'_>, v: Raw) -> Option<*mut HostCell<T>> {
        s.cell_of(v, TypeId::of::<T>()).map(|head| head.cast())
    }

    /// Returns the number of borrows, as [`CellHead`] counts them.
    pub(crate) fn borrows(&self) -> isize {
        self.head.borrow.get()
    }

    /// Returns whether the value was taken, or its scope has ended.
    pub(crate) fn is_taken(&self) -> bool {
        self.head.borrow.get() == CellHead::TAKEN
    }

    /// Takes the value out.
    ///
    /// # Safety
    /// `this` is alive.
    ///
    /// # Errors
    /// Returns an error when the value is borrowed or gone.
    pub(crate) unsafe fn take(this: *mut HostCell<T>) -> Result<T> {
        if !(*this).is_inside() && (*this).head.borrow.get() != CellHead::TAKEN {
            return Err(Error::UserDataBorrowMutError);
        }
        (*this).head.begin_exclusive().map_err(|n| unavailable(n, true))?;
        (*this).head.borrow.set(CellHead::TAKEN);
        (*this).local.0 = None;
        Ok((*this).value.get().read().assume_init())
    }
}

/// Converts the borrow count for which [`CellHead`] has refused a borrow to an error.
#[cold]
pub(crate) fn unavailable(borrow: isize, exclusive: bool) -> Error {
    match (borrow, exclusive) {
        (CellHead::TAKEN, _) => Error::UserDataDestructed,
        (_, false) => Error::UserDataBorrowError,
        (_, true) => Error::UserDataBorrowMutError,
    }
}

impl<T> Drop for HostCell<T> {
    fn drop(&mut self) {
        let inside = std::ptr::eq(self.at.get(), self.value.get().cast());
        if inside && self.head.borrow.get() != CellHead::TAKEN {
            // SAFETY: the value was not taken, and each borrower keeps the cell alive.
            unsafe { self.value.get_mut().assume_init_drop() }
        }
    }
}

impl<'a> Stack<'a> {
    /// Creates a userdata around a boxed [`HostCell`], without a metatable.
    pub(crate) fn udata(self, cell: AnyBox) -> Raw {
        // SAFETY: P5: cells of values that are not `Send` hold the control block, so that the state
        // cannot be detached.
        let u = unsafe { self.cx().udata_of_any(cell, 0) }.val().raw();
        // SAFETY: P1: the userdata was just created; it holds a cell, which begins with its head.
        unsafe { (*u.as_userdata()).header.aux = Userdata::CELL };
        Raw(u)
    }

    /// Sets the metatable of a userdata. The table has no `__gc`.
    pub(crate) fn set_udata_meta(self, u: Raw, meta: Raw) {
        let u = u.0.as_userdata();
        // SAFETY: P1: both were just made or are rooted; the barrier follows the store.
        unsafe {
            (*u).meta = meta.0.as_table();
            (*self.st).barrier(u.cast());
        }
    }
}
