//! Support for tests of the compiler: injected faults, and random disturbance.

mod chaos;
pub(crate) mod fault;
pub(crate) mod mix;
