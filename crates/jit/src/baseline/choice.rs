//! Chooses the stencils of a function's instructions by the feedback.

use perilune_bytecode::flow::{is_test, successors};
use perilune_bytecode::{Instr, Op, Proto};
use perilune_runtime::value::Tag;

use super::stencil::{Kind, Speculative, Stencil};
use super::stencils::{SPECULATIVE, STENCILS};

/// The stencils of an instruction.
#[derive(Clone, Copy)]
pub(super) struct Chosen {
    /// The stencil of the code that the preceding instruction continues in.
    pub(super) stencil: &'static Stencil,
    /// The stencil of the general copy, if `stencil` speculates.
    pub(super) general: Option<&'static Stencil>,
    /// Whether the code needs a float in a machine register, so that the instruction is entered
    /// from elsewhere by its general copy.
    pub(super) needs_float: bool,
}

/// Chooses the stencils of all instructions, given the feedback cells, and whether to speculate
/// where there is none.
pub(super) fn choose(proto: &Proto, cells: &[u32], unseen: bool) -> Vec<Chosen> {
    let code = &proto.code[..];
    let leads = entered_by_jumps(code);
    // The register whose value, a float, the preceding instruction leaves in a machine register.
    let mut carried = None;
    let mut chosen = Vec::with_capacity(code.len());
    for (pc, &i) in code.iter().enumerate() {
        if leads[pc] {
            carried = None;
        }
        let general = STENCILS[i.op() as usize][jumping(code, pc)];
        let cell = match cells[pc] {
            0 if unseen => assumed(i, pc),
            cell => cell,
        };
        let found = best(proto, i, cell, carried);
        chosen.push(match found {
            Some(s) => Chosen {
                stencil: s.stencils[jumping(code, pc)],
                general: Some(general),
                needs_float: s.carried.contains(&true),
            },
            None => Chosen { stencil: general, general: None, needs_float: false },
        });
        carried = found.filter(|s| s.carries).map(|_| i.a());
    }
    chosen
}

/// Returns for each instruction whether jumps lead to it.
fn entered_by_jumps(code: &[Instr]) -> Vec<bool> {
    let mut entered = vec![false; code.len()];
    for pc in 0..code.len() {
        let next = successors(code, pc);
        let jumps = [next.jump, next.sequence.filter(|&to| to != pc + 1)];
        for to in jumps.into_iter().flatten().filter(|&to| to < code.len()) {
            entered[to] = true;
        }
    }
    entered
}

/// Returns feedback for an instruction that has none: that of one of its copies, or none.
fn assumed(i: Instr, pc: usize) -> u32 {
    let copies = SPECULATIVE[i.op() as usize];
    let n = (pc + i.a() + i.b()) % (copies.len() + 1);
    copies.get(n).map_or(0, |copy| copy.seen)
}

/// Returns the copy that speculates on what the feedback says, and takes as many operands from the
/// machine register as possible.
fn best(
    proto: &Proto,
    i: Instr,
    cell: u32,
    carried: Option<usize>,
) -> Option<&'static Speculative> {
    let is_carried = [i.a(), i.b(), i.c()].map(|operand| carried == Some(operand));
    let matching = SPECULATIVE[i.op() as usize].iter().filter(|s| {
        let has_constant = s.constant.is_none_or(|(kind, tag)| {
            let index = if kind == Kind::ConstantB { i.b() } else { i.c() };
            tag_of(proto, index) == Some(Tag(tag))
        });
        let in_register = s.carried.iter().zip(is_carried).all(|(wants, is)| is || !wants);
        cell & s.mask == s.seen && has_constant && in_register
    });
    matching.max_by_key(|s| s.carried.iter().filter(|&&wants| wants).count())
}

/// Returns the tag of a constant that is a number.
fn tag_of(proto: &Proto, index: usize) -> Option<Tag> {
    use perilune_bytecode::Constant;
    match proto.constants.get(index)? {
        Constant::Integer(_) => Some(Tag::INTEGER),
        Constant::Float(_) => Some(Tag::FLOAT),
        _ => None,
    }
}

/// Returns the index of an instruction's stencil among those for its kinds of jumps.
fn jumping(code: &[Instr], pc: usize) -> usize {
    let i = code[pc];
    let (is_back, wanted) = match i.op() {
        Op::Jmp => (i.sj_value() < 0, false),
        op if is_test(op) => (code[pc + 1].sj_value() < 0, i.c() & 1 != 0),
        _ => (false, false),
    };
    usize::from(is_back) + 2 * usize::from(wanted)
}
