//! Panics of destructors that run one after the other.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// The first panic of several calls, all of which are made.
#[derive(Default)]
pub(crate) struct FirstPanic(Option<Box<dyn Any + Send>>);

impl FirstPanic {
    /// Calls `f`, and keeps its panic if it is the first one. Returns whether `f` has returned.
    pub(crate) fn call(&mut self, f: impl FnOnce()) -> bool {
        match catch_unwind(AssertUnwindSafe(f)) {
            Ok(()) => true,
            Err(panic) if self.0.is_none() => {
                self.0 = Some(panic);
                false
            }
            Err(panic) => {
                // its destructor may panic as well
                std::mem::forget(panic);
                false
            }
        }
    }

    /// Resumes the panic, unless there is none or the thread is unwinding already: another panic
    /// would end the process.
    pub(crate) fn resume(self) {
        if let Some(panic) = self.0 {
            match std::thread::panicking() {
                true => std::mem::forget(panic),
                false => resume_unwind(panic),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
