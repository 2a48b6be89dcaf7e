//! Borrows of values behind a shared pointer: `Rc<T>`, `Rc<RefCell<T>>`, `Arc<T>`, `Arc<Mutex<T>>`,
//! `Arc<RwLock<T>>`.

use std::any::TypeId;
use std::cell::{Ref, RefCell, RefMut};
use std::rc::Rc;
use std::sync::{Arc, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::target::{Guard, Target, mismatch};
use crate::cell::HostCell;
use crate::stack::{Raw, Stack};
use crate::{Error, Result};

/// A guard of a shared value, with its lifetime erased: the guard is dropped before the userdata
/// that holds the pointer.
pub(crate) enum Held<T: 'static> {
    Nothing,
    Ref(#[allow(dead_code)] Ref<'static, T>),
    RefMut(#[allow(dead_code)] RefMut<'static, T>),
    Lock(#[allow(dead_code)] MutexGuard<'static, T>),
    Read(#[allow(dead_code)] RwLockReadGuard<'static, T>),
    Write(#[allow(dead_code)] RwLockWriteGuard<'static, T>),
}

/// A shared value that is locked or borrowed.
pub(crate) struct Hold<T: 'static> {
    pub(crate) at: *mut T,
    // dropped before the borrow of the pointer
    pub(crate) held: Held<T>,
    pub(crate) guard: Guard,
    /// Whether the userdata owns the pointer, rather than borrowing it from a scope.
    pub(crate) own: bool,
}

/// A shared pointer to a `T`.
pub(super) trait Pointer<T: 'static>: 'static {
    /// Whether a mutable borrow requires that this is the only pointer to the value.
    const WHOLE: bool;

    /// Locks or borrows the value.
    ///
    /// # Safety
    /// `this` is borrowed (exclusively for a mutable borrow, if [`Pointer::WHOLE`]), and stays so
    /// while the result lives.
    unsafe fn hold(this: *mut Self, exclusive: bool) -> Result<(*mut T, Held<T>)>;
}

macro_rules! owners {
    ($($owner:ident)*) => {$(
        impl<T: 'static> Pointer<T> for $owner<T> {
            const WHOLE: bool = true;

            unsafe fn hold(this: *mut $owner<T>, exclusive: bool) -> Result<(*mut T, Held<T>)> {
                if !exclusive {
                    return Ok(($owner::as_ptr(&*this).cast_mut(), Held::Nothing));
                }
                let at = $owner::get_mut(&mut *this).ok_or(Error::UserDataBorrowMutError)?;
                Ok((at, Held::Nothing))
            }
        }
    )*};
}

owners!(Rc Arc);

macro_rules! cells {
    ($($t:ty: $read:ident $shared:ident, $write:ident $exclusive:ident;)*) => {$(
        impl<T: 'static> Pointer<T> for $t {
            const WHOLE: bool = false;

            unsafe fn hold(this: *mut $t, exclusive: bool) -> Result<(*mut T, Held<T>)> {
                // the caller keeps the pointer borrowed
                let cell: &'static $t = &*this;
                if exclusive {
                    let mut guard = cell.$write().map_err(|_| Error::UserDataBorrowMutError)?;
                    Ok((&raw mut *guard, Held::$exclusive(guard)))
                } else {
                    let guard = cell.$read().map_err(|_| Error::UserDataBorrowError)?;
                    Ok(((&raw const *guard).cast_mut(), Held::$shared(guard)))
                }
            }
        }
    )*};
}

cells! {
    Rc<RefCell<T>>: try_borrow Ref, try_borrow_mut RefMut;
    Arc<Mutex<T>>: try_lock Lock, try_lock Lock;
    Arc<RwLock<T>>: try_read Read, try_write Write;
}

/// Locks or borrows the value behind the pointer that a userdata holds. The target is that of the
/// pointer.
///
/// # Safety
/// As for [`Target::borrow`], for a target of `P`.
pub(super) unsafe fn hold_of<P: Pointer<T>, T: 'static>(
    target: &Target,
    s: Stack<'_>,
    v: Raw,
    exclusive: bool,
) -> Result<(*mut T, Held<T>, Guard)> {
    if s.cell(v).is_none() {
        return Err(mismatch::<T>(s, v));
    }
    let (pointer, guard) =
        target.borrow::<P>(s, v, exclusive && P::WHOLE).map_err(|e| match e {
            Error::UserDataBorrowError if exclusive => Error::UserDataBorrowMutError,
            e => e,
        })?;
    let (at, held) = P::hold(pointer, exclusive)?;
    Ok((at, held, guard))
}

/// Locks or borrows the value behind the pointer that a userdata holds.
fn hold<P: Pointer<T>, T: 'static>(s: Stack<'_>, v: Raw, exclusive: bool) -> Result<Hold<T>> {
    let target = Target::Type(TypeId::of::<P>());
    // SAFETY: the target is that of the type; a raw value is alive until the next operation. The
    // cell is alive because its userdata is, and its type is the pointer's.
    unsafe {
        let (at, held, guard) = hold_of::<P, T>(&target, s, v, exclusive)?;
        let own = (*guard.head.cast::<HostCell<P>>()).is_inside();
        Ok(Hold { at, held, guard, own })
    }
}

/// Locks or borrows the value of a userdata that holds any kind of pointer to a `T`.
///
/// # Errors
/// Returns [`Error::UserDataTypeMismatch`] for other userdata, or the reason why the borrow failed.
#[cold]
pub(crate) fn hold_any<T: 'static>(s: Stack<'_>, v: Raw, exclusive: bool) -> Result<Hold<T>> {
    let head = s.cell(v).ok_or(Error::UserDataTypeMismatch)?;
    // SAFETY: the head is alive because its userdata is.
    let id = unsafe { (*head).id };
    macro_rules! kinds {
        ($($t:ty),*) => {$(
            if id == TypeId::of::<$t>() {
                return hold::<$t, T>(s, v, exclusive);
            }
        )*};
    }
    kinds!(Rc<T>, Rc<RefCell<T>>, Arc<T>, Arc<Mutex<T>>, Arc<RwLock<T>>);
    Err(Error::UserDataTypeMismatch)
}

/// Whether a borrow of a userdata with this value may change threads, if `T` may: guards of std's
/// locks may not.
pub(crate) fn is_bound_to_thread<T: 'static>(held: &Held<T>) -> bool {
    cfg!(feature = "send") && matches!(held, Held::Lock(_) | Held::Read(_) | Held::Write(_))
}
