//! Host values inside userdata.

use std::any::TypeId;
use std::cell::{Cell, UnsafeCell};
use std::mem::MaybeUninit;
use std::rc::Rc;

use perilune_runtime::host::CellHead;
use perilune_runtime::userdata::Userdata;

use crate::control::{AnyBox, Control, Local};
use crate::stack::{Raw, Stack};
use crate::{Error, Result};

/// A host value with its type and its borrows.
#[repr(C)]
pub(crate) struct HostCell<T> {
    head: CellHead,
    local: Local,
    value: UnsafeCell<MaybeUninit<T>>,
}

impl<T: 'static> HostCell<T> {
    /// `local`: of a value that is not known to be `Send`.
    pub(crate) fn boxed(value: T, local: Option<&Rc<Control>>) -> AnyBox {
        Box::new(HostCell {
            head: CellHead { id: TypeId::of::<T>(), borrow: Cell::new(0) },
            local: Local(local.cloned()),
            value: UnsafeCell::new(MaybeUninit::new(value)),
        })
    }

    /// The cell of a value of this type.
    #[inline(always)]
    pub(crate) fn of(s: Stack<'_>, v: Raw) -> Option<*mut HostCell<T>> {
        s.cell_of(v, TypeId::of::<T>()).map(|head| head.cast())
    }

    /// The value.
    ///
    /// # Safety
    /// `this` is alive and the value was not taken.
    #[inline(always)]
    pub(crate) unsafe fn value(this: *mut HostCell<T>) -> *mut T {
        (*this).value.get().cast()
    }

    /// Begins a shared borrow.
    ///
    /// # Safety
    /// `this` is alive.
    ///
    /// # Errors
    /// When the value is borrowed for writing, or gone.
    #[inline(always)]
    pub(crate) unsafe fn begin_shared(this: *mut HostCell<T>) -> Result<()> {
        let borrow = &(*this).head.borrow;
        let n = borrow.get();
        if n < 0 {
            return Err(unavailable(n, Error::UserDataBorrowError));
        }
        borrow.set(n + 1);
        Ok(())
    }

    /// Ends a shared borrow.
    ///
    /// # Safety
    /// One was begun.
    #[inline(always)]
    pub(crate) unsafe fn end_shared(this: *mut HostCell<T>) {
        let borrow = &(*this).head.borrow;
        borrow.set(borrow.get() - 1);
    }

    /// Begins an exclusive borrow.
    ///
    /// # Safety
    /// `this` is alive.
    ///
    /// # Errors
    /// When the value is borrowed, or gone.
    #[inline(always)]
    pub(crate) unsafe fn begin_exclusive(this: *mut HostCell<T>) -> Result<()> {
        let borrow = &(*this).head.borrow;
        let n = borrow.get();
        if n != 0 {
            return Err(unavailable(n, Error::UserDataBorrowMutError));
        }
        borrow.set(CellHead::EXCLUSIVE);
        Ok(())
    }

    /// Ends an exclusive borrow.
    ///
    /// # Safety
    /// One was begun.
    #[inline(always)]
    pub(crate) unsafe fn end_exclusive(this: *mut HostCell<T>) {
        (*this).head.borrow.set(0);
    }

    /// Takes the value out.
    ///
    /// # Safety
    /// `this` is alive.
    ///
    /// # Errors
    /// When the value is borrowed, or gone.
    pub(crate) unsafe fn take(this: *mut HostCell<T>) -> Result<T> {
        HostCell::begin_exclusive(this)?;
        (*this).head.borrow.set(CellHead::TAKEN);
        (*this).local.0 = None;
        Ok((*this).value.get().read().assume_init())
    }
}

#[cold]
fn unavailable(borrow: isize, otherwise: Error) -> Error {
    if borrow == CellHead::TAKEN { Error::UserDataDestructed } else { otherwise }
}

impl<T> Drop for HostCell<T> {
    fn drop(&mut self) {
        if self.head.borrow.get() != CellHead::TAKEN {
            // SAFETY: the value was not taken, and whoever borrows it keeps the cell alive.
            unsafe { self.value.get_mut().assume_init_drop() }
        }
    }
}

impl<'a> Stack<'a> {
    /// A userdata around the box of a [`HostCell`], without metatable.
    pub(crate) fn udata(self, cell: AnyBox) -> Raw {
        let u = self.cx().udata(cell, 0).val().raw();
        // SAFETY: P1: the userdata was just made; what it holds is a cell, which begins with its head.
        unsafe { (*u.as_userdata()).header.aux = Userdata::CELL };
        Raw(u)
    }

    /// Gives a userdata its metatable, a table without `__gc`.
    pub(crate) fn set_udata_meta(self, u: Raw, meta: Raw) {
        let u = u.0.as_userdata();
        // SAFETY: P1: both were just made or are rooted; the barrier follows the store.
        unsafe {
            (*u).meta = meta.0.as_table();
            (*self.st).barrier(u.cast());
        }
    }
}
