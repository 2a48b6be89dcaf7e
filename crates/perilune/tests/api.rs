//! The embedding interface, noun by noun.

#[path = "api/convert.rs"]
mod convert;
#[path = "api/errors.rs"]
mod errors;
#[path = "api/functions.rs"]
mod functions;
#[path = "api/states.rs"]
mod states;
#[path = "api/tables.rs"]
mod tables;
#[path = "api/threads.rs"]
mod threads;
