//! Inspection of a state: positions, names of functions and values, error messages, tracebacks.
//!
//! Frames of other functions are read through [`level::Level`], whatever code runs them.

mod errors;
mod level;
mod native_api;
mod traceback;

pub use errors::{
    arith_error, call_error, close_error, compare_error, concat_error, finalizer_error,
    index_error, operand_error, runtime_error, runtime_error_of, type_name_for_error,
};
pub(crate) use level::proto_of;
pub use level::{FunctionInfo, Level};
pub use traceback::{note_traceback, traceback};
