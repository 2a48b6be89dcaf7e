//! The status of an error that is being raised.

/// An error is being raised; its value is in [`crate::state::State::error`].
#[derive(Debug)]
pub struct Raised(());

impl Raised {
    /// Asserts that the caller has stored the error value.
    #[inline(always)]
    pub fn new() -> Raised {
        Raised(())
    }
}

impl Default for Raised {
    fn default() -> Raised {
        Raised::new()
    }
}
