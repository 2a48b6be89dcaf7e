//! Userdata whose value lies behind a pointer that the host shares: `Rc<T>`, `Rc<RefCell<T>>`, `Arc<T>`, `Arc<Mutex<T>>`, `Arc<RwLock<T>>`.
//!
//! They have the fields and methods of `T`. A method is the native function that it is for a `T`; another one, which is called instead, holds the value meanwhile
//! and says where it is.

use std::any::TypeId;
use std::cell::{Cell, Ref, RefCell, RefMut};
use std::rc::Rc;
use std::sync::{Arc, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};

use perilune_runtime::host::CellHead;
use perilune_runtime::native::{Cx, NativeFn, NativeResult};

use super::method::{Guard, Target, mismatch};
use super::traits::UserData;
use super::{UserDataRegistry, method};
use crate::callback::{bound_at, inside};
use crate::cell::{HostCell, unavailable};
use crate::stack::{Raw, Stack};
use crate::{Error, Result};

/// What keeps others away from a shared value. Its borrow is not told to the compiler: it ends before that of the userdata which holds the pointer.
pub(crate) enum Held<T: 'static> {
    Nothing,
    Ref(#[allow(dead_code)] Ref<'static, T>),
    RefMut(#[allow(dead_code)] RefMut<'static, T>),
    Lock(#[allow(dead_code)] MutexGuard<'static, T>),
    Read(#[allow(dead_code)] RwLockReadGuard<'static, T>),
    Write(#[allow(dead_code)] RwLockWriteGuard<'static, T>),
}

/// A shared value that is held.
pub(crate) struct Hold<T: 'static> {
    pub(crate) at: *mut T,
    // before the borrow of the pointer
    pub(crate) held: Held<T>,
    pub(crate) guard: Guard,
    /// The userdata has the pointer itself, and not from a scope.
    pub(crate) own: bool,
}

/// A pointer to a `T` that several may have.
trait Pointer<T: 'static>: 'static {
    /// To write one must have the pointer for oneself.
    const WHOLE: bool;

    /// Holds the value.
    ///
    /// # Safety
    /// `this` is borrowed (exclusively to write, if [`Pointer::WHOLE`]), and stays so as long as the result lives.
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
                // who asks keeps it borrowed
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

/// The value behind the pointer that a userdata holds.
fn hold<P: Pointer<T>, T: 'static>(s: Stack<'_>, v: Raw, exclusive: bool) -> Result<Hold<T>> {
    let head = s.cell_of(v, TypeId::of::<P>()).ok_or_else(|| mismatch::<T>(s, v))?;
    // SAFETY: the head is alive as its userdata is, which is in use; the cell's type is the pointer's.
    unsafe {
        let whole = exclusive && P::WHOLE;
        let begun = if whole { (*head).begin_exclusive() } else { (*head).begin_shared() };
        begun.map_err(|why| unavailable(why, exclusive))?;
        let guard = Guard { head };
        let cell = head.cast::<HostCell<P>>();
        let (at, held) = P::hold(HostCell::value(cell), exclusive)?;
        Ok(Hold { at, held, guard, own: (*cell).is_inside() })
    }
}

/// The value of a userdata that holds a pointer to a `T` of any of the kinds.
///
/// # Errors
/// [`Error::UserDataTypeMismatch`] for other userdata; what stands against a borrow.
#[cold]
pub(crate) fn hold_any<T: 'static>(s: Stack<'_>, v: Raw, exclusive: bool) -> Result<Hold<T>> {
    let head = s.cell(v).ok_or(Error::UserDataTypeMismatch)?;
    // SAFETY: the head is alive as its userdata is.
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

/// Whether a borrow of a userdata with this value may change threads, if `T` may: guards of std's locks may not.
pub(crate) fn is_bound_to_thread<T: 'static>(held: &Held<T>) -> bool {
    cfg!(feature = "send") && matches!(held, Held::Lock(_) | Held::Read(_) | Held::Write(_))
}

/// Where the value of a running method is.
pub(crate) struct Place {
    at: Cell<*mut ()>,
    /// For the borrow that a method begins and ends.
    head: CellHead,
    /// The native function that holds values.
    entry: NativeFn,
}

impl Place {
    /// The held value, as borrowed.
    pub(crate) fn borrow<T>(&self) -> (*mut T, Guard) {
        self.head.borrow.set(self.head.borrow.get() + 1);
        (self.at.get().cast(), Guard { head: &raw const self.head })
    }

    /// The native function to call in place of one that is bound to a method, and to an [`Outer`].
    pub(crate) fn entry(&self) -> NativeFn {
        self.entry
    }
}

/// What a function that holds a value is bound to, behind the method.
pub(crate) struct Outer {
    pub(crate) place: Rc<Place>,
    /// The method.
    pub(crate) inner: NativeFn,
    pub(crate) exclusive: bool,
    pub(crate) name: String,
}

/// Holds the value of the first argument, and calls the method.
fn entry<P: Pointer<T>, T: 'static>(cx: &mut Cx) -> NativeResult {
    /// Where the value of the method further out is.
    struct Before<'a>(&'a Cell<*mut ()>, *mut ());
    impl Drop for Before<'_> {
        fn drop(&mut self) {
            self.0.set(self.1);
        }
    }
    let n = cx.top();
    // SAFETY: the function is bound to an `Outer`, which nobody can change (HIDDEN), and which lives as long as it.
    let outer = unsafe { &*bound_at::<Outer>(cx, 1) };
    let hold = inside(cx, |s| {
        // SAFETY: they are the arguments.
        let this = unsafe { method::first(s, 0, n) };
        hold::<P, T>(s, this, outer.exclusive).map_err(|e| e.bad_self(&outer.name))
    })?;
    let at = &outer.place.at;
    let _before = Before(at, at.replace(hold.at.cast()));
    (outer.inner)(cx)
}

macro_rules! userdata {
    ($($t:ty)*) => {$(
        /// With the fields and methods of what it points to. A method fails with [`Error::UserDataBorrowError`] or [`Error::UserDataBorrowMutError`] while the
        /// host has what it needs; one that writes through a mere `Rc` or `Arc` needs the only one.
        impl<T: UserData + 'static> UserData for $t {
            fn register(registry: &mut UserDataRegistry<$t>) {
                registry.take_parts_of::<T>(Target::Held(Rc::new(Place {
                    at: Cell::new(std::ptr::null_mut()),
                    head: CellHead { id: TypeId::of::<$t>(), borrow: Cell::new(0) },
                    entry: entry::<$t, T>,
                })));
            }
        }
    )*};
}

userdata!(Rc<T> Rc<RefCell<T>> Arc<T> Arc<Mutex<T>> Arc<RwLock<T>>);
