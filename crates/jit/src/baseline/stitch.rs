//! Stitches code together.

use perilune_bytecode::flow::{is_test, jump_target};
use perilune_bytecode::{Feedback, Instr, Op, Proto, RecordCounts};
use perilune_runtime::instance::{CalleeCache, FieldCache, GlobalCache, Instance, Places, Site};
use perilune_runtime::tier::stitched::PROLOGUE;

use crate::observe::source_map::Piece;

use super::fill::{LARGEST, ORIGIN, fill, fits};
use super::stencil::{Kind, Part, Patch, Stencil};
use super::stencils::{PROLOGUE as BEGIN, STENCILS, leaving};

/// The size of an offset, of an instruction and of a feedback cell.
const WORD: usize = size_of::<Instr>();
/// The size of a value, and so of a register or constant.
pub(super) const VALUE: i64 = perilune_runtime::layout::value::SIZE as i64;

/// Stitches the code of a function: the prologue, the offsets of the instructions' code, the hot
/// parts and the cold parts. Returns `None` if the code is too large for its offsets.
pub(crate) fn stitch(proto: &Proto) -> Option<Vec<u8>> {
    let code = &proto.code[..];
    let stencils: Vec<&Stencil> = (0..code.len()).map(|pc| stencil(code, pc)).collect();
    let map = PROLOGUE;
    let mut end = map + code.len() * WORD;
    let mut place = |part: fn(&Stencil) -> &Part| -> Vec<usize> {
        let sizes = stencils.iter().map(|s| part(s).code.len());
        sizes
            .map(|size| {
                let start = end;
                end += size;
                start
            })
            .collect()
    };
    let hot = place(|s| &s.hot);
    let cold = place(|s| &s.cold);
    if end > LARGEST {
        return None;
    }
    i32::try_from(Instance::bytes_for(proto)).ok()?;
    assert!(BEGIN.hot.code.len() <= PROLOGUE && BEGIN.cold.code.is_empty(), "a long prologue");

    let mut out = Vec::with_capacity(end);
    out.extend_from_slice(BEGIN.hot.code);
    out.resize(map, perilune_code::region::TRAP);
    for &start in &hot {
        out.extend_from_slice(&((start - map) as u32).to_le_bytes());
    }
    for s in &stencils {
        out.extend_from_slice(s.hot.code);
    }
    for s in &stencils {
        out.extend_from_slice(s.cold.code);
    }
    let records = record_offsets(proto);
    let patcher = Patcher { code, hot: &hot, records: &records };
    for patch in BEGIN.hot.patches {
        fill(&mut out, usize::from(patch.at), distance(0, patch, hot[0]));
    }
    for (pc, s) in stencils.iter().enumerate() {
        for (part, start, other) in [(&s.hot, hot[pc], cold[pc]), (&s.cold, cold[pc], hot[pc])] {
            for patch in part.patches {
                let at = start + usize::from(patch.at);
                fill(&mut out, at, patcher.value(pc, patch, start, other));
            }
        }
    }
    Some(out)
}

/// Returns the pieces of code of all instructions, first the hot parts and then the cold ones.
pub(crate) fn pieces(proto: &Proto) -> Vec<Piece> {
    let mut end = (PROLOGUE + proto.code.len() * WORD) as u32;
    let mut pieces = Vec::with_capacity(2 * proto.code.len());
    for part in [|s: &'static Stencil| &s.hot, |s: &'static Stencil| &s.cold] {
        for pc in 0..proto.code.len() {
            let start = end;
            end += part(stencil(&proto.code, pc)).code.len() as u32;
            pieces.push(Piece { start, end, pc: pc as u32 });
        }
    }
    pieces
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

/// Returns the stencil of an instruction.
fn stencil(code: &[Instr], pc: usize) -> &'static Stencil {
    let i = code[pc];
    let is_back = match i.op() {
        Op::Jmp => i.sj_value() < 0,
        op if is_test(op) => code[pc + 1].sj_value() < 0,
        _ => false,
    };
    let stencil = STENCILS[i.op() as usize][usize::from(is_back)];
    if fits(stencil, i) { stencil } else { leaving(i.op()) }
}

/// Returns the distance from a hole in the part at `start` to a place.
fn distance(start: usize, patch: &Patch, to: usize) -> i32 {
    (to as i64 - (start + usize::from(patch.at) + ORIGIN) as i64) as i32
}

/// The data that holes are filled from.
struct Patcher<'a> {
    code: &'a [Instr],
    /// The offset of the hot part of each instruction.
    hot: &'a [usize],
    /// The offset of the record of each instruction in an instance.
    records: &'a [usize],
}

impl Patcher<'_> {
    /// Returns the content of a hole of the instruction at `pc`, in the part at `start`; the other
    /// part is at `other`.
    fn value(&self, pc: usize, patch: &Patch, start: usize, other: usize) -> i32 {
        let i = self.code[pc];
        let of_value = |n: usize| (n as i64 * VALUE) as i32 + patch.addend;
        // Unreachable code may jump to the end.
        let jump = |to: usize| distance(start, patch, *self.hot.get(to).unwrap_or(&start));
        match patch.kind {
            Kind::RegisterA => of_value(i.a()),
            Kind::RegisterB | Kind::ConstantB => of_value(i.b()),
            Kind::RegisterC | Kind::ConstantC => of_value(i.c()),
            Kind::ConstantBx => of_value(i.bx()),
            Kind::ConstantExtra => of_value(self.code[pc + 1].ax_value()),
            Kind::Offset => (pc * WORD) as i32 + patch.addend,
            Kind::Position => (pc + 1) as i32 + patch.addend,
            Kind::Record => self.records[pc] as i32 + patch.addend,
            Kind::Next => jump(pc + 1),
            Kind::Skip => jump(pc + 2),
            Kind::Own => jump(jump_target(self.code, pc)),
            Kind::Following => jump(jump_target(self.code, pc + 1)),
            Kind::Back => jump(pc + 1 - i.bx()),
            Kind::Past => jump(pc + 2 + i.bx()),
            Kind::Cold | Kind::Hot => distance(start, patch, other) + patch.addend,
        }
    }
}

#[cfg(test)]
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod tests {
    use super::*;

    #[test]
    fn holes_are_inside_of_their_code_and_apart() {
        let all = STENCILS.iter().flatten().copied().chain([&BEGIN]);
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
        let out = stitch(&proto).expect("it is small");
        let word = |at: usize| u32::from_le_bytes(out[at..at + 4].try_into().expect("four bytes"));
        let mut expected = (proto.code.len() * WORD) as u32;
        for pc in 0..proto.code.len() {
            assert_eq!(word(PROLOGUE + pc * WORD), expected, "instruction {pc}");
            expected += stencil(&proto.code, pc).hot.code.len() as u32;
        }
        // The prologue ends with a jump to the first instruction.
        let jump = &BEGIN.hot.patches[BEGIN.hot.patches.len() - 1];
        assert_eq!(jump.kind, Kind::Next);
        let at = usize::from(jump.at);
        let distance = if cfg!(target_arch = "aarch64") {
            (word(at) & 0x3FF_FFFF) as usize * 4
        } else {
            word(at) as usize
        };
        assert_eq!(at + ORIGIN + distance, PROLOGUE + word(PROLOGUE) as usize);
    }
}
