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

/// Runs the passes that change the function, in order. Code that checks itself finds the closures
/// of inlined functions in their frames, so it allocates them.
pub(super) fn run(f: &mut Function, verify_values: bool) {
    params::run(f);
    if !verify_values && closures::run(f) {
        captured::run(f);
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
