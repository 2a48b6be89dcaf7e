//! Reasons for which a method is not compiled.

use std::fmt;
use std::sync::Arc;

use crate::Counter;

/// The reason why a method stays in the interpreter, or keeps its old code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The compiler panicked with this message.
    Panic(Arc<str>),
    /// The verifier rejected the output of the compiler.
    Verifier(Arc<str>),
    /// Machine code could not be generated, for this reason.
    Backend(Arc<str>),
    /// It is too large to be compiled.
    TooLarge,
    /// It uses a feature that is not compiled.
    Unsupported(&'static str),
    /// There is no room for its code, even after the coldest code was evicted.
    Exhausted,
    /// It has been compiled as often as is allowed.
    TooOften,
}

impl Refusal {
    /// Returns the counter of this kind of refusal.
    pub fn counter(&self) -> Counter {
        match self {
            Refusal::Panic(_) => Counter::RefusedPanic,
            Refusal::Verifier(_) => Counter::RefusedVerifier,
            Refusal::Backend(_) => Counter::RefusedBackend,
            Refusal::TooLarge => Counter::RefusedTooLarge,
            Refusal::Unsupported(_) => Counter::RefusedUnsupported,
            Refusal::Exhausted => Counter::RefusedExhausted,
            Refusal::TooOften => Counter::RefusedTooOften,
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Panic(message) => write!(f, "the compiler panicked: {message}"),
            Refusal::Verifier(message) => write!(f, "the verifier rejected the code: {message}"),
            Refusal::Backend(message) => write!(f, "no machine code: {message}"),
            Refusal::TooLarge => f.write_str("too large"),
            Refusal::Unsupported(what) => write!(f, "not compiled: {what}"),
            Refusal::Exhausted => f.write_str("code memory exhausted"),
            Refusal::TooOften => f.write_str("compiled too often"),
        }
    }
}

impl From<crate::Exhausted> for Refusal {
    fn from(_: crate::Exhausted) -> Refusal {
        Refusal::Exhausted
    }
}
