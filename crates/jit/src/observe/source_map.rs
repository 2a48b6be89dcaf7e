//! Maps machine code to bytecode, lines and files.

use perilune_bytecode::Proto;

/// A part of machine code, and the bytecode instruction that it was compiled from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Offset of its first byte.
    pub start: u32,
    /// Offset of the byte after it.
    pub end: u32,
    /// The instruction.
    pub pc: u32,
}

/// The code of one function at the address where it will run.
pub(crate) struct Placed<'a> {
    pub(crate) address: usize,
    pub(crate) bytes: &'a [u8],
}

/// Returns the source line of an instruction, or 0 if it is unknown.
pub(super) fn line(proto: &Proto, pc: u32) -> u32 {
    proto.lines.get(pc as usize).copied().unwrap_or(0)
}

/// Returns the offsets at which the line changes, and the lines.
pub(super) fn lines(proto: &Proto, pieces: &[Piece]) -> Vec<(u64, u32)> {
    let mut lines: Vec<_> =
        pieces.iter().map(|p| (u64::from(p.start), line(proto, p.pc))).collect();
    lines.dedup_by_key(|(_, line)| *line);
    lines
}

/// Returns the file that a function was loaded from, if there is one.
pub(super) fn file(proto: &Proto) -> Option<String> {
    let name = proto.source.as_deref()?.strip_prefix(b"@")?;
    (!name.is_empty()).then(|| String::from_utf8_lossy(name).into_owned())
}
