//! The values to which methods apply, and borrows of them.

use std::any::TypeId;
use std::cell::Cell;
use std::rc::Rc;

use perilune_runtime::native::NativeFn;
use perilune_runtime::userdata::CellHead;
use perilune_runtime::value::{Tag, Value as Word};

use super::scoped::Scoped;
use crate::cell::{HostCell, unavailable};
use crate::stack::{Raw, Stack};
use crate::types::short_type_name;
use crate::{Error, Result};

/// The values to which methods apply.
#[derive(Clone)]
pub(crate) enum Target {
    /// All userdata of a type.
    Type(TypeId),
    /// One userdata of a scope: the address of its value, null after the scope has ended.
    One(Rc<Cell<*mut ()>>),
    /// All userdata that hold a pointer to a value of a type. The calling function holds the value.
    Held(Rc<Place>),
}

/// A borrow of a userdata's value, which ends when this is dropped.
pub(crate) struct Guard {
    pub(super) head: *const CellHead,
}

impl Drop for Guard {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: the value is borrowed, so that the cell is not freed.
        unsafe { (*self.head).end() }
    }
}

impl Guard {
    /// Returns the head of the cell without ending the borrow.
    pub(super) fn into_head(self) -> *const CellHead {
        std::mem::ManuallyDrop::new(self).head
    }

    /// Borrows the value of a userdata of this type.
    pub(crate) fn borrow<T: 'static>(
        s: Stack<'_>,
        v: Raw,
        exclusive: bool,
    ) -> Result<(*mut T, Guard)> {
        // SAFETY: the target is that of the type; a raw value is alive until the next operation.
        unsafe { Target::Type(TypeId::of::<T>()).borrow(s, v, exclusive) }
    }
}

impl Target {
    /// Borrows the value of a userdata, if it is one that the target covers.
    ///
    /// # Safety
    /// The target was made for `T`, and `v` is a live value.
    #[inline(always)]
    pub(super) unsafe fn borrow<T>(
        &self,
        s: Stack<'_>,
        v: Raw,
        exclusive: bool,
    ) -> Result<(*mut T, Guard)> {
        let (head, at) = match self {
            Target::Type(id) => match s.cell_of(v, *id) {
                // The type is `T`, by its registry.
                Some(head) => (head, HostCell::value(head.cast::<HostCell<T>>())),
                None => return Err(mismatch::<T>(s, v)),
            },
            Target::Held(place) => return Ok(place.borrow()),
            Target::One(place) => {
                let at = place.get();
                let Some(cell) = HostCell::<Scoped>::of(s, v) else {
                    return Err(mismatch::<T>(s, v));
                };
                if at.is_null() {
                    return Err(Error::UserDataDestructed);
                }
                let scoped = HostCell::value(cell);
                if !(*cell).is_taken() && !Rc::ptr_eq(&(*scoped).place, place) {
                    return Err(Error::UserDataTypeMismatch);
                }
                (cell.cast(), at.cast())
            }
        };
        let begun = if exclusive { (*head).begin_exclusive() } else { (*head).begin_shared() };
        match begun {
            Ok(()) => Ok((at, Guard { head })),
            Err(why) => Err(unavailable(why, exclusive)),
        }
    }
}

#[cold]
pub(super) fn mismatch<T>(s: Stack<'_>, v: Raw) -> Error {
    // the library's userdata, such as files, have no cell
    if v.0.tag() == Tag::USERDATA {
        return Error::UserDataTypeMismatch;
    }
    let message = format!("expected userdata of type '{}'", short_type_name::<T>());
    Error::from_lua_conversion(s.type_name(v), "userdata", message)
}

/// Returns the first argument.
///
/// # Safety
/// The `n` values from `at` on are the arguments.
#[inline(always)]
pub(super) unsafe fn first(s: Stack<'_>, at: usize, n: usize) -> Raw {
    if n > 0 { s.get(at) } else { Raw(Word::NIL) }
}

/// The address of the value of a running method.
pub(crate) struct Place {
    /// The shared pointers to such values.
    pub(super) pointer: Target,
    pub(super) at: Cell<*mut ()>,
    /// Counts the borrow that a method begins and ends.
    pub(super) head: CellHead,
    /// The native function that locks or borrows values.
    pub(super) entry: NativeFn,
}

impl Place {
    /// Returns the value, which the calling function has already borrowed.
    pub(crate) fn borrow<T>(&self) -> (*mut T, Guard) {
        self.head.borrow.set(self.head.borrow.get() + 1);
        (self.at.get().cast(), Guard { head: &raw const self.head })
    }

    /// Returns the native function to call instead of a method's own. It is bound to the method and
    /// to an [`Outer`].
    pub(crate) fn entry(&self) -> NativeFn {
        self.entry
    }
}

/// The second bound value of a wrapper function, after the method.
pub(crate) struct Outer {
    pub(crate) place: Rc<Place>,
    /// The method.
    pub(crate) inner: NativeFn,
    pub(crate) exclusive: bool,
    pub(crate) name: String,
}
