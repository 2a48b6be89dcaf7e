//! Errors of the public interface.

use std::fmt;

/// Why a chunk did not run to its end.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Error {
    /// The source does not compile. [`syntax::check`](crate::syntax::check) tells where.
    SyntaxError {
        /// PUC's message.
        message: String,
        /// The source ends too early: more text could make it valid.
        incomplete_input: bool,
    },
    /// An error was raised and not caught; the error value as `tostring` gives it.
    RuntimeError(String),
}

impl Error {
    /// Of a message of the compiler.
    pub(crate) fn syntax(message: &[u8]) -> Error {
        let message = String::from_utf8_lossy(message).into_owned();
        let incomplete_input = message.ends_with("<eof>");
        Error::SyntaxError { message, incomplete_input }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::SyntaxError { message, .. } | Error::RuntimeError(message) => {
                f.write_str(message)
            }
        }
    }
}

impl std::error::Error for Error {}
