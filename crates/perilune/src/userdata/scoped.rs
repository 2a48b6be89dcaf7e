//! Values of a scope, whose types may borrow.

/// Anything, behind a pointer.
pub(crate) trait Erased {}
impl<T: ?Sized> Erased for T {}

/// A value of a scope; dropped when the scope ends.
pub(crate) struct Scoped(pub(crate) Box<dyn Erased>);

impl Scoped {
    /// Keeps a value that may borrow for `'a`.
    ///
    /// # Safety
    /// It is dropped before `'a` ends.
    pub(crate) unsafe fn new<'a, T: 'a>(value: Box<T>) -> Scoped {
        let value: Box<dyn Erased + 'a> = value;
        // SAFETY: only the lifetime changes; the caller drops it in time.
        Scoped(unsafe { std::mem::transmute::<Box<dyn Erased + 'a>, Box<dyn Erased>>(value) })
    }

    /// Returns the address of the value.
    pub(crate) fn address(&self) -> *mut () {
        (&raw const *self.0).cast_mut().cast()
    }
}
