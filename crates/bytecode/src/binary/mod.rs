//! Binary chunks (`string.dump`, manual 6.4): a compact serialization of a function and all
//! functions nested in it.
//!
//! The header is the same as in PUC Lua, for programs that read it. It is followed by [`FORMAT`],
//! in the place where a PUC chunk has the number of upvalues, so that neither engine accepts the
//! other's chunks. After it, counts and small numbers are LEB128 varints, and signed ones are
//! zigzag-coded.

mod read;
#[cfg(test)]
mod tests;
mod write;

pub use read::{UndumpError, undump};
pub use write::dump;

/// The start of every chunk: signature, version, format, data that text conversions would damage,
/// and the sizes of an instruction, an integer and a float.
const HEADER: [&[u8]; 4] = [b"\x1bLua", b"\x54", b"\0", b"\x19\x93\r\n\x1a\n"];
const SIZES: [(u8, &str); 3] = [(4, "Instruction"), (8, "lua_Integer"), (8, "lua_Number")];

/// This format and its revision; a change of the instruction set changes the last byte.
const FORMAT: [u8; 8] = *b"PLUNE\0\0\x02";

/// An integer with which a reader checks that integers are read as they were written.
const CHECK_INTEGER: i64 = 0x5678;

/// A float with which a reader checks that floats are read as they were written.
const CHECK_FLOAT: f64 = 370.5;

/// The deepest nesting of functions that is read; the parser's limit is lower.
const MAX_NESTING: usize = 220;

/// Tags of constants.
mod tag {
    pub(super) const NIL: u8 = 0;
    pub(super) const FALSE: u8 = 1;
    pub(super) const TRUE: u8 = 2;
    pub(super) const INTEGER: u8 = 3;
    pub(super) const FLOAT: u8 = 4;
    pub(super) const STR: u8 = 5;
}

/// The ways in which a function's source is stored.
mod source {
    pub(super) const NONE: u8 = 0;
    pub(super) const AS_PARENT: u8 = 1;
    pub(super) const OWN: u8 = 2;
}

/// Bits of an upvalue's flags.
mod upvalue {
    pub(super) const IN_STACK: u8 = 1;
    pub(super) const NAMED: u8 = 2;
}
