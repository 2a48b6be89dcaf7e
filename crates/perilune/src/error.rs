//! Errors of the public interface.

use std::fmt;

/// Why a chunk did not run to its end.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Error {
    /// The source does not compile.
    Syntax {
        /// PUC's message.
        message: String,
        /// More input could make it valid.
        incomplete: bool,
    },
    /// An error was raised and not caught.
    Runtime {
        /// The error value as `tostring` gives it.
        message: String,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Syntax { message, .. } | Error::Runtime { message } => f.write_str(message),
        }
    }
}

impl std::error::Error for Error {}
