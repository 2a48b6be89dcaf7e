//! Values of a scope, which may contain references.

/// A value of any type, behind a pointer.
pub(crate) trait Erased {}
impl<T: ?Sized> Erased for T {}

/// A value of a scope, which is dropped when the scope ends.
pub(crate) struct Scoped(pub(crate) Box<dyn Erased>);

impl Scoped {
    /// Stores a value that may contain references with the lifetime `'a`.
    ///
    /// # Safety
    /// The result is dropped before `'a` ends.
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
