//! The library `string` (manual 6.4).

mod arith;
mod bytes;
mod class;
mod compile;
mod find;
mod follow;
mod format;
mod gsub;
mod matcher;
mod pack;
mod packing;
mod pattern;

use perilune_runtime::native::{Builtin, Cx, NativeFn, Raised};

use crate::support::{library, make_known, names, publish};

const FUNCTIONS: &[(&str, NativeFn)] = &[
    ("byte", bytes::byte),
    ("char", bytes::char_),
    ("dump", bytes::dump),
    ("find", find::find),
    ("format", format::format),
    ("gmatch", find::gmatch),
    ("gsub", gsub::gsub),
    ("len", bytes::len),
    ("lower", bytes::lower),
    ("match", find::match_),
    ("rep", bytes::rep),
    ("reverse", bytes::reverse),
    ("sub", bytes::sub),
    ("upper", bytes::upper),
    ("pack", pack::pack),
    ("packsize", pack::packsize),
    ("unpack", pack::unpack),
];

/// The names of the library's fields.
static NAMES: [&str; FUNCTIONS.len()] = names(FUNCTIONS, &[]);

/// Names of the fields of its metatable.
static META_NAMES: [&str; arith::METAMETHODS.len() + 1] = names(arith::METAMETHODS, &["__index"]);

/// Opens `string` and gives strings their metatable.
///
/// # Errors
/// Returns "not enough memory".
pub fn open(cx: &mut Cx) -> Result<(), Raised> {
    compile::prepare_thread();
    let cx = &*cx;
    let lib = library(cx, &NAMES, FUNCTIONS);
    make_known(
        cx,
        lib,
        &[
            ("byte", Builtin::Byte),
            ("char", Builtin::Char),
            ("len", Builtin::StringLen),
            ("sub", Builtin::Sub),
        ],
    );
    publish(cx, "string", lib);
    let meta = library(cx, &META_NAMES, arith::METAMETHODS);
    meta.set_name(cx, "__index", lib.val());
    cx.set_type_metatable(cx.str(b"").val(), Some(meta));
    Ok(())
}
