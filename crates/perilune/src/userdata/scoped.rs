//! Values of a scope, which may contain references.

use std::cell::Cell;
use std::rc::Rc;

/// A value of any type, behind a pointer.
pub(crate) trait Erased {}
impl<T: ?Sized> Erased for T {}

/// A value of a scope, which is dropped when the scope ends.
pub(crate) struct Scoped {
    pub(crate) value: Box<dyn Erased>,
    /// Identifies the userdata among those of scopes, and holds the value's address until the scope
    /// ends. The address alone identifies none: values without a size share theirs.
    pub(super) place: Rc<Cell<*mut ()>>,
}

impl Scoped {
    /// Stores a value that may contain references with the lifetime `'a`, and its address.
    ///
    /// # Safety
    /// The result is dropped before `'a` ends.
    pub(crate) unsafe fn new<'a, T: 'a>(value: Box<T>, place: Rc<Cell<*mut ()>>) -> Scoped {
        let value: Box<dyn Erased + 'a> = value;
        // SAFETY: only the lifetime changes; the caller drops it in time.
        let value = unsafe { std::mem::transmute::<Box<dyn Erased + 'a>, Box<dyn Erased>>(value) };
        place.set((&raw const *value).cast_mut().cast());
        Scoped { value, place }
    }
}
