//! Access to a state: by its own thread only or, with the feature `send`, by any thread, one at a
//! time.
//!
//! Without the feature the types here do nothing, and states and handles are neither `Send` nor
//! `Sync`.

#[cfg(not(feature = "send"))]
mod imp {
    use std::cell::Cell;
    use std::marker::PhantomData;

    pub(crate) use std::rc::{Rc as XRc, Weak as XWeak};

    /// A lock that does nothing.
    pub(crate) struct Lock;

    impl Lock {
        pub(crate) const fn new() -> Lock {
            Lock
        }

        #[inline(always)]
        pub(crate) fn hold(&self) -> Guard<'_> {
            Guard(PhantomData)
        }
    }

    /// A guard that does nothing.
    pub(crate) struct Guard<'a>(PhantomData<(&'a Lock, *const ())>);

    // Does nothing.
    const _: () = assert!(
        size_of::<Lock>() == 0
            && size_of::<Guard<'_>>() == 0
            && !std::mem::needs_drop::<Guard<'_>>()
    );

    /// A count that only one thread uses.
    pub(crate) struct Count(Cell<usize>);

    impl Count {
        pub(crate) const fn new(n: usize) -> Count {
            Count(Cell::new(n))
        }

        #[inline(always)]
        pub(crate) fn get(&self) -> usize {
            self.0.get()
        }

        #[inline(always)]
        pub(crate) fn increment(&self) {
            self.0.set(self.0.get() + 1);
        }

        /// Decrements the count and returns the new value.
        #[inline(always)]
        pub(crate) fn decrement(&self) -> usize {
            let left = self.0.get() - 1;
            self.0.set(left);
            left
        }
    }
}

#[cfg(feature = "send")]
mod imp {
    use std::marker::PhantomData;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use parking_lot::lock_api::RawReentrantMutex;
    use parking_lot::{RawMutex, RawThreadId};

    pub(crate) use std::sync::{Arc as XRc, Weak as XWeak};

    /// A reentrant lock.
    pub(crate) struct Lock(RawReentrantMutex<RawMutex, RawThreadId>);

    impl Lock {
        pub(crate) const fn new() -> Lock {
            Lock(RawReentrantMutex::INIT)
        }

        #[inline]
        pub(crate) fn hold(&self) -> Guard<'_> {
            self.0.lock();
            Guard(self, PhantomData)
        }
    }

    /// A guard of the lock, held by this thread.
    pub(crate) struct Guard<'a>(&'a Lock, PhantomData<*const ()>);

    impl Drop for Guard<'_> {
        #[inline]
        fn drop(&mut self) {
            // SAFETY: P6: this thread took the lock when it created the guard, which stays on this
            // thread.
            unsafe { self.0.0.unlock() }
        }
    }

    /// An atomic count, which may be changed with or without the lock.
    pub(crate) struct Count(AtomicUsize);

    impl Count {
        pub(crate) const fn new(n: usize) -> Count {
            Count(AtomicUsize::new(n))
        }

        #[inline]
        pub(crate) fn get(&self) -> usize {
            self.0.load(Ordering::Acquire)
        }

        #[inline]
        pub(crate) fn increment(&self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }

        /// Decrements the count and returns the new value.
        #[inline]
        pub(crate) fn decrement(&self) -> usize {
            self.0.fetch_sub(1, Ordering::AcqRel) - 1
        }
    }
}

pub(crate) use imp::{Count, Guard, Lock, XRc, XWeak};
