//! Panics of destructors that run one after the other, and the destruction of what panics carry.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// The first panic of several calls, all of which are made.
#[derive(Default)]
pub struct FirstPanic(Option<Box<dyn Any + Send>>);

impl FirstPanic {
    /// Calls `f`, and keeps its panic if it is the first one. Returns whether `f` has returned.
    pub fn call(&mut self, f: impl FnOnce()) -> bool {
        match catch_unwind(AssertUnwindSafe(f)) {
            Ok(()) => true,
            Err(panic) if self.0.is_none() => {
                self.0 = Some(panic);
                false
            }
            Err(panic) => {
                discard_panic(panic);
                false
            }
        }
    }

    /// Resumes the panic, unless there is none or the thread is unwinding already: another panic
    /// would end the process.
    pub fn resume(self) {
        if let Some(panic) = self.0 {
            match std::thread::panicking() {
                true => discard_panic(panic),
                false => resume_unwind(panic),
            }
        }
    }
}

/// Drops what a panic carries. Its destructor may panic as well; that panic is leaked.
pub fn discard_panic(panic: Box<dyn Any + Send>) {
    if let Err(another) = catch_unwind(AssertUnwindSafe(|| drop(panic))) {
        std::mem::forget(another);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    /// Panics when it is dropped.
    struct PanicsAgain(#[expect(dead_code, reason = "held")] Arc<()>);

    impl Drop for PanicsAgain {
        fn drop(&mut self) {
            // a panic that needs no memory, since it is leaked
            resume_unwind(Box::new(()));
        }
    }

    #[test]
    fn all_calls_are_made() {
        let mut panics = FirstPanic::default();
        let mut calls = 0;
        for n in 0..4 {
            let returned = panics.call(|| {
                calls += 1;
                if n % 2 == 1 {
                    resume_unwind(Box::new(n));
                }
            });
            assert_eq!(returned, n % 2 == 0);
        }
        assert_eq!(calls, 4);
        let first = catch_unwind(AssertUnwindSafe(|| panics.resume())).unwrap_err();
        assert_eq!(first.downcast_ref(), Some(&1));
        FirstPanic::default().resume();
    }

    #[test]
    fn later_panics_are_dropped() {
        let owner = Arc::new(());
        let mut panics = FirstPanic::default();
        panics.call(|| resume_unwind(Box::new("first")));
        panics.call(|| resume_unwind(Box::new(Arc::clone(&owner))));
        panics.call(|| resume_unwind(Box::new(PanicsAgain(Arc::clone(&owner)))));
        assert_eq!(Arc::strong_count(&owner), 1);
        let first = catch_unwind(AssertUnwindSafe(|| panics.resume())).unwrap_err();
        assert_eq!(first.downcast_ref(), Some(&"first"));
    }

    #[test]
    fn a_panic_that_is_not_resumed_is_dropped() {
        struct ResumesInDrop(Option<FirstPanic>);

        impl Drop for ResumesInDrop {
            fn drop(&mut self) {
                self.0.take().unwrap().resume();
            }
        }

        let owner = Arc::new(());
        let mut panics = FirstPanic::default();
        panics.call(|| resume_unwind(Box::new(PanicsAgain(Arc::clone(&owner)))));
        let outer = catch_unwind(AssertUnwindSafe(|| {
            let _resumes = ResumesInDrop(Some(panics));
            resume_unwind(Box::new("outer"));
        }));
        assert_eq!(outer.unwrap_err().downcast_ref(), Some(&"outer"));
        assert_eq!(Arc::strong_count(&owner), 1);
    }
}
