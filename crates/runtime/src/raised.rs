//! The status of an error that is being raised, and the kinds of errors.

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

/// The kind of an error. The error value does not determine it, since a program may raise any
/// value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ErrorKind {
    /// A value that the program, a library function or the interpreter has raised.
    Value,
    /// Memory is exhausted, or its limit was reached.
    Memory,
    /// A message handler has failed, too.
    Handler,
}

impl ErrorKind {
    /// Returns the kind with this number, which a conversion with `as` has made.
    pub fn from_number(number: i64) -> ErrorKind {
        let others = [ErrorKind::Memory, ErrorKind::Handler];
        others.into_iter().find(|&kind| kind as i64 == number).unwrap_or(ErrorKind::Value)
    }
}
