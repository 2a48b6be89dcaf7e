//! The library `table` (manual 6.6).

mod access;
mod concat;
mod elements;
mod runs;
mod sort;

use perilune_runtime::native::{Builtin, Cx, NativeFn, Raised};

use crate::support::{library, make_known, names, publish};

const FUNCTIONS: &[(&str, NativeFn)] = &[
    ("concat", concat::concat),
    ("insert", elements::insert),
    ("pack", elements::pack),
    ("unpack", elements::unpack),
    ("remove", elements::remove),
    ("move", elements::move_),
    ("sort", sort::sort),
];

/// The names of the library's fields.
static NAMES: [&str; FUNCTIONS.len()] = names(FUNCTIONS, &[]);

/// Opens `table`.
///
/// # Errors
/// Returns "not enough memory".
pub fn open(cx: &mut Cx) -> Result<(), Raised> {
    let cx = &*cx;
    let lib = library(cx, &NAMES, FUNCTIONS);
    make_known(cx, lib, &[("insert", Builtin::Insert), ("remove", Builtin::Remove)]);
    publish(cx, "table", lib);
    Ok(())
}
