//! The passes between building and lowering, one per file.

pub(super) mod crossings;
mod delayed;
mod escape;
mod fields;
pub(super) mod homes;
mod params;
mod unused;

use super::ir::Function;

/// Runs the passes that change the function, in order.
pub(super) fn run(f: &mut Function) {
    params::run(f);
    if escape::run(f) {
        params::run(f);
    }
    fields::run(f);
    unused::run(f);
    delayed::run(f);
}
