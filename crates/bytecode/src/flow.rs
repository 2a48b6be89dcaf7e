//! The successors of each instruction: the only definition, shared by the compiler, the verifier
//! and all analyses of code.

use crate::instr::Instr;
use crate::opcode::Op;

/// The place where control continues after an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Next {
    /// The next instruction.
    Falls,
    /// The next instruction, or this one.
    Branches(usize),
    /// This instruction.
    Goes(usize),
    /// Outside of the function.
    Leaves,
}

/// Returns whether an opcode is a test: the word after it is a JMP, which it may skip.
pub const fn is_test(op: Op) -> bool {
    use Op::*;
    matches!(op, Eq | Lt | Le | EqK | EqI | LtI | LeI | GtI | GeI | Test | TestSet)
}

/// Returns whether the instruction at `pc` is a CALLMETA all of whose results are returned by the
/// next instruction.
pub fn returns_class(code: &[Instr], pc: usize) -> bool {
    let (i, next) = (code[pc], code[pc + 1]);
    i.op() == Op::CallMeta
        && i.c() == 0
        && next.op() == Op::Return
        && (next.a(), next.b(), next.c()) == (i.a(), 0, 0)
}

/// Returns whether an instruction is a call with one result whose first argument is in register
/// `table`. Most likely it calls `setmetatable`, which returns its argument.
pub fn is_passed(i: Instr, table: usize) -> bool {
    matches!(i.op(), Op::Call | Op::CallMeta) && i.a() + 2 == table && i.c() == 2
}

/// Returns the target of the JMP at `pc`. In code that is not verified the target may be out of
/// range, even by wrapping around.
#[inline]
pub fn jump_target(code: &[Instr], pc: usize) -> usize {
    (pc + 1).wrapping_add_signed(code[pc].sj_value())
}

/// Returns where control continues after the word at `pc`. In code that is not verified the target
/// may be out of range, even by wrapping around.
#[inline]
pub fn next(code: &[Instr], pc: usize) -> Next {
    use Op::*;
    let instr = code[pc];
    let after = pc + 1;
    match instr.op() {
        op if is_test(op) => Next::Branches(pc + 2),
        Jmp => Next::Goes(jump_target(code, pc)),
        LFalseSkip | LoadKX | SetList => Next::Goes(pc + 2),
        ForPrep => Next::Branches(after + instr.bx() + 1),
        ForLoop | TForLoop => Next::Branches(after.wrapping_sub(instr.bx())),
        TForPrep => Next::Goes(after + instr.bx()),
        Return | Return0 | Return1 => Next::Leaves,
        _ => Next::Falls,
    }
}

/// The successors of an instruction of verified code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Successors {
    /// The instruction that follows in sequence.
    pub sequence: Option<usize>,
    /// The target of a jump.
    pub jump: Option<usize>,
}

/// Returns the successors of the instruction at `pc` of verified code. A test and its JMP count as
/// one instruction, and so do an instruction and its EXTRAARG.
pub fn successors(code: &[Instr], pc: usize) -> Successors {
    let op = code[pc].op();
    let (sequence, jump) = match next(code, pc) {
        _ if is_test(op) => (Some(pc + 2), Some(jump_target(code, pc + 1))),
        Next::Falls => (Some(pc + 1), None),
        Next::Branches(target) => (Some(pc + 1), Some(target)),
        Next::Goes(target) if matches!(op, Op::LoadKX | Op::SetList) => (Some(target), None),
        Next::Goes(target) => (None, Some(target)),
        Next::Leaves => (None, None),
    };
    Successors { sequence, jump }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the successors of the first instruction with this opcode, relative to its pc.
    fn of(source: &str, op: Op) -> (Option<isize>, Option<isize>) {
        let proto = crate::compile_source(source.as_bytes(), b"=test", 0).ok().expect("compiles");
        let pc = proto.code.iter().position(|i| i.op() == op).expect("the opcode is there");
        let Successors { sequence, jump } = successors(&proto.code, pc);
        let relative = |to: usize| to as isize - pc as isize;
        (sequence.map(relative), jump.map(relative))
    }

    #[test]
    fn successors_by_opcode() {
        assert_eq!(of("local a = 1", Op::LoadI), (Some(1), None));
        assert_eq!(of("local a if a then a = 1 end", Op::Test), (Some(2), Some(3)));
        assert_eq!(of("while true do end", Op::Jmp), (None, Some(0)));
        assert_eq!(of("for i = 1, 2 do end", Op::ForPrep), (Some(1), Some(2)));
        assert_eq!(of("for i = 1, 2 do end", Op::ForLoop), (Some(1), Some(0)));
        assert_eq!(of("for _ in next, {} do end", Op::TForPrep), (None, Some(1)));
        assert_eq!(of("local a, b a = b == 1", Op::LFalseSkip), (None, Some(2)));
        assert_eq!(of("local a = {1}", Op::SetList), (Some(2), None));
        assert_eq!(of("return 1, 2", Op::Return), (None, None));
    }
}
