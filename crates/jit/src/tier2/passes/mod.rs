//! The passes between building and lowering, one per file.

mod captured;
mod closures;
pub(super) mod crossings;
mod dce;
mod escape;
mod fields;
#[cfg(test)]
mod golden;
pub(super) mod homes;
mod params;
mod ranges;
mod sink;

use super::ir::Function;
use crate::testing::fault::Fault;

/// Runs the passes that change the function, in order.
pub(super) fn run(f: &mut Function, verify_values: bool, fault: Option<Fault>) {
    params::run(f);
    if closures::run(f) {
        captured::run(f, verify_values, fault);
        params::run(f);
    }
    if escape::run(f) {
        params::run(f);
    }
    fields::run(f);
    ranges::run(f);
    dce::run(f);
    sink::run(f);
}
