//! Tests of the embedding API, one module per subject.

#[path = "api/convert.rs"]
mod convert;
#[path = "api/detach.rs"]
mod detach;
#[path = "api/errors.rs"]
mod errors;
#[path = "api/from_mlua.rs"]
mod from_mlua;
#[path = "api/functions.rs"]
mod functions;
#[path = "api/hooks.rs"]
mod hooks;
#[path = "api/members.rs"]
mod members;
#[path = "api/sandbox.rs"]
mod sandbox;
#[path = "api/scopes.rs"]
mod scopes;
#[path = "api/shared.rs"]
mod shared;
#[path = "api/states.rs"]
mod states;
#[path = "api/stress.rs"]
mod stress;
#[path = "api/tables.rs"]
mod tables;
#[path = "api/threads.rs"]
mod threads;
#[path = "api/unwinding.rs"]
mod unwinding;
#[path = "api/userdata.rs"]
mod userdata;
