//! Assembles the code of a function from stencils.

use std::fmt::Write as _;
use std::ops::Range;

use perilune_bytecode::flow::{is_test, jump_target};
use perilune_bytecode::{Feedback, Instr, Op, Proto, RecordCounts, disassemble_instruction};
use perilune_runtime::instance::{CalleeCache, FieldCache, GlobalCache, Instance, Places, Site};
use perilune_runtime::tier::stitched::PROLOGUE;

use crate::observe::source_map::Piece;

use super::choice::{Chooser, Chosen, jump_targets};
use super::fill::{JUMP, JUMP_HOLE, LARGEST, ORIGIN, fill};
use super::stencil::{Kind, Part, Patch, Stencil};
use super::stencils::PROLOGUE as BEGIN;

/// The size of an offset, of an instruction and of a feedback cell.
const WORD: usize = size_of::<Instr>();
/// The size of a value, and so of a register or constant.
pub(super) const VALUE: i32 = perilune_runtime::layout::value::SIZE as i32;

/// The code of a function before it is assembled: the prologue, the offsets of the instructions'
/// code, the hot parts, the cold parts, and the out-of-line code. The last consists of jumps after
/// a test whose code contains them, and of the general variants of instructions that speculate.
pub(crate) struct Plan<'a> {
    proto: &'a Proto,
    slots: Vec<Slot>,
    end: usize,
}

/// The stencils of an instruction and their places.
#[derive(Clone, Copy)]
struct Slot {
    chosen: Chosen,
    /// Whether jumps lead here.
    is_target: bool,
    /// Whether this is the jump of a test, whose code is out of line.
    follows_test: bool,
    /// The offset of the instruction's record in an instance, if it has one.
    record: usize,
    /// The places of the chosen variant, to which the preceding instruction leads.
    hot: usize,
    cold: usize,
    /// The place of the general variant.
    general: usize,
}

impl Slot {
    /// Returns where the instruction is entered from elsewhere.
    fn entry(&self) -> usize {
        if self.chosen.needs_float { self.general } else { self.hot }
    }
}

impl Plan<'_> {
    /// Plans the code of a function, given the feedback cells of an instance and whether to
    /// speculate without feedback. Returns `None` if the code is too large for its offsets.
    pub(crate) fn new<'a>(proto: &'a Proto, cells: &[u32], unseen: bool) -> Option<Plan<'a>> {
        let code = &proto.code[..];
        let none = Chosen { stencil: &BEGIN, otherwise: None, assumed: None, needs_float: false };
        let unplaced = Slot {
            chosen: none,
            is_target: false,
            follows_test: false,
            record: 0,
            hot: 0,
            cold: 0,
            general: 0,
        };
        let mut slots = vec![unplaced; code.len()];
        jump_targets(code, |to| slots[to].is_target = true);
        let mut chooser = Chooser::new(proto, cells, unseen);
        let mut records = Records::of(proto);
        let mut end = Plan::offsets(proto).end;
        let mut take = |size: usize| {
            end += size;
            end - size
        };
        let mut follows_test = false;
        for (pc, slot) in slots.iter_mut().enumerate() {
            slot.chosen = chooser.choose(pc, slot.is_target);
            slot.record = records.next(code[pc]);
            slot.follows_test = follows_test;
            follows_test = is_test(code[pc].op());
            if !slot.follows_test {
                slot.hot = take(slot.chosen.stencil.hot.code.len());
            }
        }
        for slot in &mut slots {
            slot.cold = take(slot.chosen.stencil.cold.code.len());
        }
        for slot in &mut slots {
            let Chosen { stencil, otherwise, .. } = slot.chosen;
            if slot.follows_test {
                slot.hot = take(stencil.hot.code.len() + jump_size(stencil));
            }
            slot.general = match otherwise {
                Some(stencil) => take(stencil.hot.code.len() + jump_size(stencil)),
                None => slot.hot,
            };
        }
        if end > LARGEST {
            return None;
        }
        i32::try_from(Instance::bytes_for(proto)).ok()?;
        Some(Plan { proto, slots, end })
    }

    /// Returns where the code of a function contains the offsets of its instructions' code.
    pub(crate) fn offsets(proto: &Proto) -> Range<usize> {
        PROLOGUE..PROLOGUE + proto.code.len() * WORD
    }

    /// Assembles the code.
    pub(crate) fn stitch(&self) -> Vec<u8> {
        let mut out = self.copied();
        for patch in BEGIN.hot.patches {
            fill_at(&mut out, 0, patch, self.slots[0].entry() as i32);
        }
        for (pc, slot) in self.slots.iter().enumerate() {
            let Chosen { stencil, otherwise, .. } = slot.chosen;
            let mut contents = self.contents(pc);
            fill_part(&mut out, slot.hot, &stencil.hot, &contents);
            fill_part(&mut out, slot.cold, &stencil.cold, &contents);
            // Only the chosen variants leave and expect floats in a machine register.
            let next = self.slots.get(pc + 1).unwrap_or(slot);
            contents[Kind::Next as usize] = next.entry() as i32;
            if slot.follows_test {
                fill_jump(&mut out, slot.hot, stencil, &contents);
            }
            if let Some(stencil) = otherwise {
                fill_part(&mut out, slot.general, &stencil.hot, &contents);
                fill_jump(&mut out, slot.general, stencil, &contents);
            }
        }
        out
    }

    /// Copies all parts to their places, in the order of the places, with empty holes.
    fn copied(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.end);
        let begin = BEGIN.hot.code;
        assert!(begin.len() <= PROLOGUE && BEGIN.cold.code.is_empty(), "a long prologue");
        out.extend_from_slice(begin);
        out.resize(PROLOGUE, perilune_code::region::TRAP);
        for slot in &self.slots {
            out.extend_from_slice(&((slot.entry() - PROLOGUE) as u32).to_le_bytes());
        }
        for slot in self.slots.iter().filter(|slot| !slot.follows_test) {
            out.extend_from_slice(slot.chosen.stencil.hot.code);
        }
        for slot in &self.slots {
            out.extend_from_slice(slot.chosen.stencil.cold.code);
        }
        for slot in &self.slots {
            let Chosen { stencil, otherwise, .. } = slot.chosen;
            if slot.follows_test {
                copy_with_jump(&mut out, stencil);
            }
            if let Some(stencil) = otherwise {
                assert!(stencil.cold.code.is_empty(), "{} has one part", stencil.name);
                copy_with_jump(&mut out, stencil);
            }
        }
        assert_eq!(out.len(), self.end, "parts are in their places");
        out
    }

    /// Returns the places of the code of all instructions, in ascending order.
    pub(crate) fn pieces(&self) -> Vec<Piece> {
        let piece = |pc: usize, start: usize, size: usize| Piece {
            start: start as u32,
            end: (start + size) as u32,
            pc: pc as u32,
        };
        let of = |(pc, slot): (usize, &Slot)| {
            let Chosen { stencil, otherwise, .. } = slot.chosen;
            let general = otherwise.map(|s| piece(pc, slot.general, s.hot.code.len()));
            let (hot, cold) = (stencil.hot.code.len(), stencil.cold.code.len());
            [Some(piece(pc, slot.hot, hot)), Some(piece(pc, slot.cold, cold)), general]
        };
        let mut all: Vec<Piece> = self.slots.iter().enumerate().flat_map(of).flatten().collect();
        all.retain(|p| p.start < p.end);
        all.sort_unstable_by_key(|p| p.start);
        all
    }

    /// Returns the feedback that the code assumes and does not record, by pc.
    pub(crate) fn assumed(&self) -> Box<[(u32, u32)]> {
        let all = self.slots.iter().enumerate();
        all.filter_map(|(pc, slot)| Some((pc as u32, slot.chosen.assumed?))).collect()
    }

    /// Lists the instructions with the names of their stencils.
    pub(crate) fn listing(&self) -> String {
        let mut out = String::new();
        for (pc, slot) in self.slots.iter().enumerate() {
            let name = slot.chosen.stencil.name;
            let _ = writeln!(out, "{:<40} # {name}", disassemble_instruction(self.proto, pc));
        }
        out
    }

    /// Returns the content of the holes of an instruction's code, by their kind: a number, or the
    /// place to which a distance leads.
    fn contents(&self, pc: usize) -> [i32; Kind::COUNT] {
        let code = &self.proto.code[..];
        let (i, slot) = (code[pc], &self.slots[pc]);
        // The last instructions have no following ones; their stencils have no holes for these.
        let to = |pc: usize| self.slots.get(pc).unwrap_or(slot);
        let entry = |pc: usize| to(pc).entry() as i32;
        let mut contents = [0; Kind::COUNT];
        let mut set = |kind: Kind, content: i32| contents[kind as usize] = content;
        let [a, b, c] = [i.a(), i.b(), i.c()].map(|n| n as i32);
        set(Kind::RegisterA, a * VALUE);
        set(Kind::RegisterB, b * VALUE);
        set(Kind::RegisterC, c * VALUE);
        set(Kind::ConstantB, b * VALUE);
        set(Kind::ConstantC, c * VALUE);
        set(Kind::ConstantBx, i.bx() as i32 * VALUE);
        set(Kind::ImmediateC, c);
        set(Kind::ImmediateSignedB, b - Instr::SB_BIAS);
        set(Kind::Offset, (pc * WORD) as i32);
        set(Kind::Position, (pc + 1) as i32);
        set(Kind::Record, slot.record as i32);
        set(Kind::Next, to(pc + 1).hot as i32);
        set(Kind::Skip, entry(pc + 2));
        set(Kind::General, slot.general as i32);
        set(Kind::Cold, slot.cold as i32);
        set(Kind::Hot, slot.hot as i32);
        match i.op() {
            Op::LoadKX => set(Kind::ConstantExtra, code[pc + 1].ax_value() as i32 * VALUE),
            Op::Jmp => set(Kind::Own, entry(jump_target(code, pc))),
            Op::ForLoop | Op::TForLoop => set(Kind::Back, entry(pc + 1 - i.bx())),
            Op::ForPrep => set(Kind::Past, entry(pc + 2 + i.bx())),
            op if is_test(op) => set(Kind::Following, entry(jump_target(code, pc + 1))),
            _ => {}
        }
        contents
    }
}

/// Returns the size of the jump that must be appended to an out-of-line stencil.
fn jump_size(stencil: &Stencil) -> usize {
    stencil.falls.map_or(0, |_| JUMP.len())
}

/// Appends the code of a stencil that is out of line.
fn copy_with_jump(out: &mut Vec<u8>, stencil: &Stencil) {
    out.extend_from_slice(stencil.hot.code);
    if stencil.falls.is_some() {
        out.extend_from_slice(&JUMP);
    }
}

/// Fills the holes of the part that begins at `start`.
#[inline]
fn fill_part(out: &mut [u8], start: usize, part: &Part, contents: &[i32; Kind::COUNT]) {
    if part.patches.is_empty() {
        return;
    }
    let out = &mut out[start..start + part.code.len()];
    for patch in part.patches {
        fill_at(out, start, patch, contents[patch.kind as usize]);
    }
}

/// Fills the hole of the jump after the stencil at `start`, if it has one.
fn fill_jump(out: &mut [u8], start: usize, stencil: &Stencil, contents: &[i32; Kind::COUNT]) {
    let Some(kind) = stencil.falls else { return };
    let end = start + stencil.hot.code.len();
    let patch = Patch { at: JUMP_HOLE, kind, addend: 0 };
    fill_at(&mut out[end..end + JUMP.len()], end, &patch, contents[kind as usize]);
}

/// Fills a hole of code that begins at `start`, with a number, or with the distance to a place.
#[inline]
fn fill_at(code: &mut [u8], start: usize, patch: &Patch, content: i32) {
    let at = usize::from(patch.at);
    let from = if patch.kind.is_distance() { (start + at + ORIGIN) as i32 } else { 0 };
    fill(code, at, content + patch.addend - from);
}

/// The places in an instance of the records of instructions, which must be queried in code order.
struct Records {
    places: Places,
    counts: RecordCounts,
}

impl Records {
    fn of(proto: &Proto) -> Records {
        Records { places: Places::in_instances_of(proto), counts: RecordCounts::default() }
    }

    /// Returns the offset of the record of the next instruction; 0 if it has none.
    fn next(&mut self, i: Instr) -> usize {
        let kind = i.op().feedback();
        let (first, size) = match kind {
            Feedback::Field => (self.places.fields, size_of::<FieldCache>()),
            Feedback::Global => (self.places.globals, size_of::<GlobalCache>()),
            Feedback::Callee => (self.places.callees, size_of::<CalleeCache>()),
            Feedback::Site => (self.places.sites, size_of::<Site>()),
            Feedback::None | Feedback::Operands | Feedback::Access | Feedback::Count => return 0,
        };
        first + self.counts.number(kind).unwrap_or(0) as usize * size
    }
}

#[cfg(test)]
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
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
            let slot = &plan.slots[pc];
            assert!(start == slot.hot || start == slot.general, "instruction {pc}");
            let size = slot.chosen.stencil.hot.code.len();
            let piece = plan.pieces().into_iter().find(|p| p.start as usize == slot.hot);
            assert!(size == 0 || piece.is_some_and(|p| p.pc as usize == pc), "instruction {pc}");
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
