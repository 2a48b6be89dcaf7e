//! Selects the stencils for the instructions of a function according to the feedback.

use perilune_bytecode::flow::{is_test, successors};
use perilune_bytecode::{Constant, Instr, Op, Proto};
use perilune_runtime::value::Tag;

use super::fill::fits;
use super::stencil::{Kind, Speculative, Stencil};
use super::stencils::{SPECULATIVE, STENCILS, leaving};

/// The stencils of an instruction.
#[derive(Clone, Copy)]
pub(super) struct Chosen {
    /// The stencil of the code that the preceding instruction continues in.
    pub(super) stencil: &'static Stencil,
    /// The stencil for other operands, if `stencil` speculates.
    pub(super) otherwise: Option<&'static Stencil>,
    /// The feedback that `stencil` assumes.
    pub(super) assumed: Option<u32>,
    /// Whether the code needs a float in a machine register, so that the instruction is entered
    /// from elsewhere by its general variant.
    pub(super) needs_float: bool,
}

/// Chooses stencils for one instruction after the other.
pub(super) struct Chooser<'a> {
    proto: &'a Proto,
    /// The feedback cells.
    cells: &'a [u32],
    /// Whether to speculate without feedback.
    unseen: bool,
    /// The register whose value, a float, the preceding instruction leaves in a machine register.
    carried: Option<usize>,
}

impl<'a> Chooser<'a> {
    /// Begins with the first instruction.
    pub(super) fn new(proto: &'a Proto, cells: &'a [u32], unseen: bool) -> Chooser<'a> {
        Chooser { proto, cells, unseen, carried: None }
    }

    /// Returns the stencils of the next instruction, at `pc`. `is_target` says whether jumps lead
    /// to it.
    pub(super) fn choose(&mut self, pc: usize, is_target: bool) -> Chosen {
        let code = &self.proto.code[..];
        let i = code[pc];
        if is_target {
            self.carried = None;
        }
        let cell = match self.cells[pc] {
            0 if self.unseen => assumed(i, pc),
            cell => cell,
        };
        let jumping = jumping(code, pc);
        let found = self.best(i, cell).filter(|s| fits(s.stencils[jumping], i));
        self.carried = found.filter(|s| s.carries).map(|_| i.a());
        match found {
            Some(s) => Chosen {
                stencil: s.stencils[jumping],
                otherwise: Some(s.otherwise),
                assumed: Some(s.seen),
                needs_float: s.carried != [false; 3],
            },
            None => {
                let general = STENCILS[i.op() as usize][jumping];
                let stencil = if fits(general, i) { general } else { leaving(i.op()) };
                Chosen { stencil, otherwise: None, assumed: None, needs_float: false }
            }
        }
    }

    /// Returns the variant that speculates according to the feedback, and takes as many operands
    /// from the machine register as possible.
    fn best(&self, i: Instr, cell: u32) -> Option<&'static Speculative> {
        let variants = SPECULATIVE[i.op() as usize];
        if variants.is_empty() || cell == 0 {
            return None;
        }
        let is_carried = [i.a(), i.b(), i.c()].map(|operand| self.carried == Some(operand));
        let matching = variants.iter().filter(|s| {
            let in_register = || s.carried.iter().zip(is_carried).all(|(wants, is)| is || !wants);
            let has_constant = || {
                s.constant.is_none_or(|(kind, tag)| {
                    let index = if kind == Kind::ConstantB { i.b() } else { i.c() };
                    self.tag_of(index) == Some(Tag(tag))
                })
            };
            cell & s.mask == s.seen && in_register() && has_constant()
        });
        matching.max_by_key(|s| s.carried.iter().filter(|&&wants| wants).count())
    }

    /// Returns the tag of a constant that is a number.
    fn tag_of(&self, index: usize) -> Option<Tag> {
        match self.proto.constants.get(index)? {
            Constant::Integer(_) => Some(Tag::INTEGER),
            Constant::Float(_) => Some(Tag::FLOAT),
            _ => None,
        }
    }
}

/// Calls `f` with each instruction to which jumps lead.
pub(super) fn jump_targets(code: &[Instr], mut f: impl FnMut(usize)) {
    for pc in 0..code.len() {
        let next = successors(code, pc);
        let jumps = [next.jump, next.sequence.filter(|&to| to != pc + 1)];
        jumps.into_iter().flatten().for_each(&mut f);
    }
}

/// Returns feedback for an instruction that has none: that of one of its variants, or none.
fn assumed(i: Instr, pc: usize) -> u32 {
    let variants = SPECULATIVE[i.op() as usize];
    let n = (pc + i.a() + i.b()) % (variants.len() + 1);
    variants.get(n).map_or(0, |variant| variant.seen)
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
