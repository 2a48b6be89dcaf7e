//! The library `table` (manual 6.6).

mod access;
mod concat;
mod elements;
mod runs;
mod sort;

use perilune_runtime::native::{Builtin, Cx, NativeFn, Raised};

use crate::support::{make_known, publish, register};

const FUNCTIONS: &[(&str, NativeFn)] = &[
    ("concat", concat::concat),
    ("insert", elements::insert),
    ("pack", elements::pack),
    ("unpack", elements::unpack),
    ("remove", elements::remove),
    ("move", elements::move_),
    ("sort", sort::sort),
];

/// Opens `table`.
///
/// # Errors
/// "not enough memory".
pub fn open(cx: &mut Cx) -> Result<(), Raised> {
    let cx = &*cx;
    let lib = cx.table(0, FUNCTIONS.len());
    register(cx, lib, FUNCTIONS);
    make_known(cx, lib, &[("insert", Builtin::Insert), ("remove", Builtin::Remove)]);
    publish(cx, "table", lib);
    Ok(())
}
