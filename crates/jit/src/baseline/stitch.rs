//! Stitches code together.

use std::fmt::Write as _;

use perilune_bytecode::flow::{is_test, jump_target};
use perilune_bytecode::{Feedback, Instr, Proto, RecordCounts, disassemble_instruction};
use perilune_runtime::instance::{CalleeCache, FieldCache, GlobalCache, Instance, Places, Site};
use perilune_runtime::tier::stitched::PROLOGUE;

use crate::observe::source_map::Piece;

use super::choice::choose;
use super::stencil::{Kind, Part, Patch};
use super::stencils::PROLOGUE as BEGIN;

/// The size of an offset, of an instruction and of a feedback cell.
const WORD: usize = size_of::<Instr>();
/// The size of a value, and so of a register or constant.
const VALUE: i64 = perilune_runtime::layout::value::SIZE as i64;

/// The code of a function, before it is put together: the prologue, the offsets of the
/// instructions' code, the hot parts, the cold parts, and what is out of line: the general copies
/// of instructions that speculate, and jumps that follow a test, which contains them.
pub(crate) struct Plan<'a> {
    proto: &'a Proto,
    pieces: Vec<Copy>,
    /// Where the instruction is entered by the preceding one.
    fallen: Vec<usize>,
    /// Where the instruction is entered from elsewhere.
    entries: Vec<usize>,
    /// The general copies.
    general: Vec<usize>,
    /// The names of the chosen stencils.
    names: Vec<&'static str>,
    end: usize,
}

/// A part of a stencil and its place.
struct Copy {
    pc: usize,
    part: &'static Part,
    start: usize,
    /// The place of the other part.
    other: usize,
    /// The jump that is added at the end, since the code of its target does not follow.
    then: Option<Kind>,
    /// Whether this is the code that the preceding instruction continues in.
    is_chosen: bool,
}

/// The size of a jump.
const JUMP: usize = 5;
/// The first byte of a jump, of which the distance follows.
const JUMP_OPCODE: u8 = 0xE9;

impl Plan<'_> {
    /// Plans the code of a function, given the feedback cells of an instance, and whether to
    /// speculate where there is no feedback. Returns `None` if the code is too large for its
    /// offsets.
    pub(crate) fn new<'a>(proto: &'a Proto, cells: &[u32], unseen: bool) -> Option<Plan<'a>> {
        let code = &proto.code[..];
        let chosen = choose(proto, cells, unseen);
        let follows_test: Vec<bool> =
            (0..code.len()).map(|pc| pc > 0 && is_test(code[pc - 1].op())).collect();
        let mut end = PROLOGUE + code.len() * WORD;
        let mut pieces = Vec::with_capacity(2 * code.len());
        let mut take = |part: &'static Part, then: Option<Kind>| {
            let start = end;
            end += part.code.len() + then.map_or(0, |_| JUMP);
            start
        };
        let mut hot = vec![0; code.len()];
        for (pc, c) in chosen.iter().enumerate().filter(|&(pc, _)| !follows_test[pc]) {
            hot[pc] = take(&c.stencil.hot, None);
        }
        let cold: Vec<usize> = chosen.iter().map(|c| take(&c.stencil.cold, None)).collect();
        for (pc, c) in chosen.iter().enumerate().filter(|&(pc, _)| follows_test[pc]) {
            hot[pc] = take(&c.stencil.hot, c.stencil.falls);
        }
        for (pc, c) in chosen.iter().enumerate() {
            let then = c.stencil.falls.filter(|_| follows_test[pc]);
            let (hot, cold) = (hot[pc], cold[pc]);
            let part =
                |part, start, other, then| Copy { pc, part, start, other, then, is_chosen: true };
            pieces.push(part(&c.stencil.hot, hot, cold, then));
            pieces.push(part(&c.stencil.cold, cold, hot, None));
        }
        let mut general = hot.clone();
        for (pc, c) in chosen.iter().enumerate() {
            let Some(stencil) = c.general else { continue };
            let hot = take(&stencil.hot, stencil.falls);
            let cold = take(&stencil.cold, None);
            let part =
                |part, start, other, then| Copy { pc, part, start, other, then, is_chosen: false };
            pieces.push(part(&stencil.hot, hot, cold, stencil.falls));
            pieces.push(part(&stencil.cold, cold, hot, None));
            general[pc] = hot;
        }
        let entry = |pc: usize| if chosen[pc].needs_float { general[pc] } else { hot[pc] };
        let entries = (0..code.len()).map(entry).collect();
        i32::try_from(end).ok()?;
        i32::try_from(Instance::bytes_for(proto)).ok()?;
        pieces.sort_by_key(|piece| piece.start);
        let names = chosen.iter().map(|c| c.stencil.name).collect();
        Some(Plan { proto, pieces, fallen: hot, entries, general, names, end })
    }

    /// Puts the code together.
    pub(crate) fn stitch(&self) -> Vec<u8> {
        let prologue = BEGIN.hot.code;
        assert!(prologue.len() <= PROLOGUE && BEGIN.cold.code.is_empty(), "a long prologue");
        let mut out = Vec::with_capacity(self.end);
        out.extend_from_slice(prologue);
        out.resize(PROLOGUE, perilune_code::region::TRAP);
        for &start in &self.entries {
            out.extend_from_slice(&((start - PROLOGUE) as u32).to_le_bytes());
        }
        for patch in BEGIN.hot.patches {
            write(&mut out, usize::from(patch.at), distance(0, patch, self.entries[0]));
        }
        let records = record_offsets(self.proto);
        for piece in &self.pieces {
            assert_eq!(out.len(), piece.start, "pieces adjoin");
            out.extend_from_slice(piece.part.code);
            for patch in piece.part.patches {
                let at = piece.start + usize::from(patch.at);
                write(&mut out, at, self.value(piece, patch, &records));
            }
            if let Some(kind) = piece.then {
                let at = out.len() - piece.start + 1;
                out.push(JUMP_OPCODE);
                out.extend_from_slice(&[0; 4]);
                let patch = Patch { at: at as u16, kind, addend: 0 };
                write(&mut out, piece.start + at, self.value(piece, &patch, &records));
            }
        }
        out
    }

    /// Returns the places of the code of all instructions.
    pub(crate) fn pieces(&self) -> Vec<Piece> {
        let ends = self.pieces.iter().skip(1).map(|p| p.start).chain([self.end]);
        let all = self.pieces.iter().zip(ends);
        all.map(|(p, end)| Piece { start: p.start as u32, end: end as u32, pc: p.pc as u32 })
            .filter(|p| p.start < p.end)
            .collect()
    }

    /// Lists the instructions with the names of their stencils.
    pub(crate) fn listing(&self) -> String {
        let mut out = String::new();
        for (pc, name) in self.names.iter().enumerate() {
            let _ = writeln!(out, "{:<40} # {name}", disassemble_instruction(self.proto, pc));
        }
        out
    }

    /// Returns the content of a hole.
    fn value(&self, piece: &Copy, patch: &Patch, records: &[usize]) -> i32 {
        let code = &self.proto.code[..];
        let (pc, i) = (piece.pc, code[piece.pc]);
        let of_value = |n: usize| (n as i64 * VALUE) as i32 + patch.addend;
        let to = |place: usize| distance(piece.start, patch, place);
        // Unreachable code may jump to the end.
        let jump = |pc: usize| to(*self.entries.get(pc).unwrap_or(&piece.start));
        match patch.kind {
            Kind::RegisterA => of_value(i.a()),
            Kind::RegisterB | Kind::ConstantB => of_value(i.b()),
            Kind::RegisterC | Kind::ConstantC => of_value(i.c()),
            Kind::ConstantBx => of_value(i.bx()),
            Kind::ConstantExtra => of_value(code[pc + 1].ax_value()),
            Kind::ImmediateC => i.c() as i32 + patch.addend,
            Kind::ImmediateSignedB => i.b() as i32 - Instr::SB_BIAS + patch.addend,
            Kind::Offset => (pc * WORD) as i32 + patch.addend,
            Kind::Position => (pc + 1) as i32 + patch.addend,
            Kind::Record => records[pc] as i32 + patch.addend,
            // A float may be in a machine register only after the chosen copy.
            Kind::Next if piece.is_chosen => to(*self.fallen.get(pc + 1).unwrap_or(&piece.start)),
            Kind::Next => jump(pc + 1),
            Kind::Skip => jump(pc + 2),
            Kind::Own => jump(jump_target(code, pc)),
            Kind::Following => jump(jump_target(code, pc + 1)),
            Kind::Back => jump(pc + 1 - i.bx()),
            Kind::Past => jump(pc + 2 + i.bx()),
            Kind::General => to(self.general[pc]),
            Kind::Cold | Kind::Hot => to(piece.other) + patch.addend,
        }
    }
}

/// Returns the offset in an instance of the record that each instruction has, if it has one.
fn record_offsets(proto: &Proto) -> Vec<usize> {
    let places = Places::in_instances_of(proto);
    let mut counts = RecordCounts::default();
    let offset = |i: &Instr| {
        let kind = i.op().feedback();
        let (first, size) = match kind {
            Feedback::Field => (places.fields, size_of::<FieldCache>()),
            Feedback::Global => (places.globals, size_of::<GlobalCache>()),
            Feedback::Callee => (places.callees, size_of::<CalleeCache>()),
            Feedback::Site => (places.sites, size_of::<Site>()),
            Feedback::None | Feedback::Operands | Feedback::Access | Feedback::Count => (0, 0),
        };
        first + counts.number(kind).unwrap_or(0) as usize * size
    };
    proto.code.iter().map(offset).collect()
}

/// Returns the distance from the end of four bytes of the part at `start` to a place.
fn distance(start: usize, patch: &Patch, to: usize) -> i32 {
    (to as i64 - (start + usize::from(patch.at) + 4) as i64) as i32
}

fn write(out: &mut [u8], at: usize, value: i32) {
    out[at..at + 4].copy_from_slice(&value.to_le_bytes());
}

#[cfg(test)]
#[cfg(target_arch = "x86_64")]
mod tests {
    use super::super::stencils::{SPECULATIVE, STENCILS};
    use super::*;

    #[test]
    fn holes_are_inside_of_their_code_and_apart() {
        let speculative = SPECULATIVE.iter().flat_map(|s| s.iter()).flat_map(|s| s.stencils);
        let all = STENCILS.iter().flatten().copied().chain(speculative).chain([&BEGIN]);
        for part in all.flat_map(|s| [&s.hot, &s.cold]) {
            let mut end = 0;
            let mut places: Vec<usize> = part.patches.iter().map(|p| usize::from(p.at)).collect();
            places.sort_unstable();
            for at in places {
                assert!(at >= end && at + 4 <= part.code.len(), "{part:?}");
                end = at + 4;
            }
        }
    }

    #[test]
    fn offsets_lead_to_the_code_of_each_instruction() {
        let source = "local s = 0 for i = 1, 10 do if s ~= i then s = s + i end end return s";
        let proto = crate::analysis::listing::compile(source);
        let plan = Plan::new(&proto, &vec![0; proto.code.len()], true).expect("it is small");
        let out = plan.stitch();
        let word = |at: usize| u32::from_le_bytes(out[at..at + 4].try_into().expect("four bytes"));
        for pc in 0..proto.code.len() {
            let start = word(PROLOGUE + pc * WORD) as usize + PROLOGUE;
            let starts = plan.pieces.iter().any(|p| p.start == start && p.pc == pc);
            assert!(starts, "instruction {pc}");
        }
        // The prologue ends with a jump to the first instruction.
        let jump = &BEGIN.hot.patches[BEGIN.hot.patches.len() - 1];
        assert_eq!(jump.kind, Kind::Next);
        let end = usize::from(jump.at) + 4;
        assert_eq!(end + word(end - 4) as usize, PROLOGUE + word(PROLOGUE) as usize);
    }
}
