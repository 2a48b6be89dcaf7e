//! Finds the early returns of a function: returns that it reaches through tests alone, before
//! anything that has a side effect.
//!
//! A recursive function cannot be inlined into itself indefinitely, but many of its calls return
//! immediately: `if n < 2 then return n end`. For such a function, the tests and the early returns
//! are inlined, and the function is called only if none of these returns is taken.
//!
//! If side effects precede the tests, as in a function that counts its calls, the call would repeat
//! them. But a test of a parameter can be evaluated before them, which predicts whether the
//! function is going to return early.

use cranelift_codegen::entity::{EntityRef, EntitySet, SecondaryMap};
use perilune_bytecode::effects::effects;
use perilune_bytecode::feedback::{access, operands as seen};
use perilune_bytecode::{Instr, Op, Proto};

use super::flow::Flow;
use crate::entity::Pc;
use crate::feedback::snapshot::{FieldPath, Snapshot};

/// The role of an instruction in early returns.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Role {
    /// It is not inlined.
    #[default]
    Rest,
    /// It has no effects, and decides whether the function returns early.
    Decides,
    /// It leads to an early return.
    Returns,
}

/// The instructions of a function that decide about its early returns, and those that return early.
#[derive(Clone)]
pub(crate) struct EarlyPart {
    roles: SecondaryMap<Pc, Role>,
    /// The number of these instructions.
    pub(crate) length: usize,
    /// The test that must be evaluated before the function begins, if effects precede it.
    pub(crate) beforehand: Option<Beforehand>,
}

/// A test of parameters that predicts whether a function returns early.
#[derive(Clone, Copy)]
pub(crate) struct Beforehand {
    pub(crate) test: Pc,
    /// Whether the function returns early if the jump after the test is taken.
    pub(crate) returns_by_jump: bool,
}

impl EarlyPart {
    /// Finds the early returns of a function; `None` if it has none, or if it consists only of
    /// early returns.
    pub(crate) fn of(proto: &Proto, snapshot: &Snapshot) -> Option<EarlyPart> {
        if proto.is_vararg || proto.shares_registers() || snapshot.general {
            return None;
        }
        let flow = Flow::new(proto, snapshot, Pc::new(0));
        EarlyPart::reached_by_tests(proto, snapshot, &flow)
            .or_else(|| EarlyPart::known_beforehand(proto, snapshot, &flow))
    }

    /// The maximum number of instructions.
    const MAX_LENGTH: usize = 24;

    /// Finds the returns that are reached by tests alone.
    fn reached_by_tests(proto: &Proto, snapshot: &Snapshot, flow: &Flow) -> Option<EarlyPart> {
        let mut part = EarlyPart { roles: SecondaryMap::new(), length: 0, beforehand: None };
        let (mut returns, mut leaves) = (false, false);
        let mut waiting = vec![Pc::new(0)];
        let mut reached = EntitySet::new();
        while let Some(pc) = waiting.pop() {
            if !reached.insert(pc) {
                continue;
            }
            let block = Block::of(proto, flow, pc);
            if block.instructions().any(|pc| snapshot.failed.contains(&pc.as_u32())) {
                return None;
            }
            let role = if flow.is_loop[pc] { Role::Rest } else { block.role(proto, snapshot) };
            match role {
                Role::Rest => leaves = true,
                Role::Returns => returns = true,
                Role::Decides => waiting.extend(&block.successors),
            }
            for pc in block.instructions().filter(|_| role != Role::Rest) {
                part.roles[pc] = role;
                part.length += 1;
            }
        }
        (returns && leaves && part.length <= EarlyPart::MAX_LENGTH).then_some(part)
    }

    /// Finds the return that the first test of the function leads to, if the test is of parameters
    /// and no instruction before it calls anything.
    fn known_beforehand(proto: &Proto, snapshot: &Snapshot, flow: &Flow) -> Option<EarlyPart> {
        let first = Block::of(proto, flow, Pc::new(0));
        let test = first.last;
        let i = test.instr(proto);
        let operands = match i.op() {
            Op::Test | Op::EqK | Op::EqI | Op::LtI | Op::LeI | Op::GtI | Op::GeI => [i.a(), i.a()],
            Op::Lt | Op::Le => [i.a(), i.b()],
            _ => return None,
        };
        let is_kept = |r: usize| {
            let mut before = first.instructions().filter(|&pc| pc != test);
            r < usize::from(proto.num_params)
                && before.all(|pc| !effects(pc.instr(proto)).changes(r))
        };
        let calls_nothing =
            |pc: Pc| is_pure(snapshot, pc, pc.instr(proto)) || is_store(snapshot, pc, proto);
        if flow.is_loop[first.first]
            || !operands.into_iter().all(is_kept)
            || !first.instructions().all(calls_nothing)
        {
            return None;
        }
        let (next, jump) = flow.successors(proto, test);
        let [next, jump] = [next?, jump?].map(|pc| Block::of(proto, flow, pc));
        let [by_next, by_jump] =
            [&next, &jump].map(|block| block.role(proto, snapshot) == Role::Returns);
        if by_next == by_jump {
            return None;
        }
        let last = if by_jump { jump } else { next };
        let mut roles = SecondaryMap::new();
        let mut length = 0;
        for pc in first.instructions().chain(last.instructions()) {
            if snapshot.failed.contains(&pc.as_u32()) {
                return None;
            }
            roles[pc] = Role::Returns;
            length += 1;
        }
        let beforehand = Some(Beforehand { test, returns_by_jump: by_jump });
        (length <= EarlyPart::MAX_LENGTH).then_some(EarlyPart { roles, length, beforehand })
    }

    /// Returns whether the instruction at `pc` is one of these instructions.
    pub(crate) fn contains(&self, pc: Pc) -> bool {
        self.roles[pc] != Role::Rest
    }

    /// Returns whether the instruction at `pc` is one of those that decide whether the function
    /// returns early. These have no effects.
    pub(crate) fn decides(&self, pc: Pc) -> bool {
        self.roles[pc] == Role::Decides
    }
}

/// A block: instructions that are executed one after the other.
struct Block {
    first: Pc,
    /// The last instruction; that of a test and its jump is the test.
    last: Pc,
    successors: Vec<Pc>,
}

impl Block {
    fn of(proto: &Proto, flow: &Flow, first: Pc) -> Block {
        let mut last = first;
        loop {
            let (next, jump) = flow.successors(proto, last);
            match (next, jump) {
                (Some(next), None) if !flow.leader[next] => last = next,
                _ => {
                    let successors = next.into_iter().chain(jump).collect();
                    return Block { first, last, successors };
                }
            }
        }
    }

    fn instructions(&self) -> impl Iterator<Item = Pc> + use<> {
        (self.first.index()..=self.last.index()).map(Pc::new)
    }

    fn role(&self, proto: &Proto, snapshot: &Snapshot) -> Role {
        let last = self.last.instr(proto);
        if matches!(last.op(), Op::Return | Op::Return0 | Op::Return1) {
            let is_plain = last.op() != Op::Return || last.b() != 0 && last.c() == 0;
            let is_late = |pc: Pc| {
                use Op::{Call, CallMeta, Close, TailCall, Tbc};
                matches!(pc.instr(proto).op(), Call | CallMeta | TailCall | Close | Tbc)
            };
            return match is_plain && !self.instructions().any(is_late) {
                true => Role::Returns,
                false => Role::Rest,
            };
        }
        // A block without successors ends at an instruction that was never executed.
        match !self.successors.is_empty()
            && self.instructions().all(|pc| is_pure(snapshot, pc, pc.instr(proto)))
        {
            true => Role::Decides,
            false => Role::Rest,
        }
    }
}

/// Returns whether an instruction stores without calling anything, as long as operands are of the
/// kinds that feedback has seen.
fn is_store(snapshot: &Snapshot, pc: Pc, proto: &Proto) -> bool {
    match pc.instr(proto).op() {
        Op::SetUpval => true,
        Op::SetField | Op::SetFieldK => has_own_field(snapshot, pc),
        _ => false,
    }
}

/// Returns whether the field that an instruction accesses was always the table's own.
fn has_own_field(snapshot: &Snapshot, pc: Pc) -> bool {
    let field = snapshot.field(pc);
    let is_own = |path: &FieldPath| matches!(path, FieldPath::Own { .. });
    !field.dictionaries
        && !field.is_megamorphic()
        && !field.paths.is_empty()
        && field.paths.iter().all(is_own)
        && !snapshot.handlers.contains_key(&pc.as_u32())
}

/// Returns whether an instruction has no effect besides its result, as long as operands are of the
/// kinds that feedback has seen.
fn is_pure(snapshot: &Snapshot, pc: Pc, i: Instr) -> bool {
    use Op::*;
    const NUMBERS: u32 = seen::INT | seen::FLOAT | seen::MIXED;
    const ELEMENTS: u32 =
        access::ARRAY | access::INTS | access::FLOATS | access::ANY | access::BOOLS;
    let cell = snapshot.cell(pc);
    match i.op() {
        Move | LoadI | LoadF | LoadK | LoadFalse | LoadTrue | LoadNil | GetUpval | Not | Test
        | TestSet | Jmp | EqK | EqI => true,
        AddI | SubI | AddK | SubK | MulK | KAdd | KSub | KMul | Add | Sub | Mul | ModK | Mod
        | IDivK | IDiv | DivK | KDiv | Div | Unm | BAndK | BOrK | BXorK | BAnd | BOr | BXor
        | ShlI | ShrI | Shl | Shr | BNot | Lt | Le | LtI | LeI | GtI | GeI => {
            cell & seen::ALL != 0 && cell & seen::ALL & !NUMBERS == 0
        }
        Eq => cell & seen::ALL == seen::INT,
        GetTable | GetI => cell & access::ALL != 0 && cell & access::ALL & !ELEMENTS == 0,
        GetField => has_own_field(snapshot, pc),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::listing;

    /// Returns the pcs of the instructions that decide and of those that return.
    fn parts(function: &str, cell: u32) -> Option<(Vec<usize>, Vec<usize>)> {
        let proto = listing::compile(&format!("local f; f = {function}")).protos[0].clone();
        let mut snapshot = Snapshot::before_run(&proto);
        for pc in 0..proto.code.len() {
            if proto.code[pc].op().feedback() == perilune_bytecode::Feedback::Operands {
                snapshot.cells[pc] = cell;
            }
        }
        let part = EarlyPart::of(&proto, &snapshot)?;
        let with = |role| {
            let all = Pc::all(&proto).filter(|&pc| part.roles[pc] == role);
            all.map(Pc::index).collect()
        };
        Some((with(Role::Decides), with(Role::Returns)))
    }

    #[test]
    fn tests_and_returns_are_found() {
        let fib = "function(n) if n < 2 then return n end return f(n - 1) + f(n - 2) end";
        assert_eq!(parts(fib, seen::INT), Some((vec![0], vec![2])));
        let two = "function(m, n) if m == 0 then return n + 1 elseif n == 0 then return 1 end
            return f(m - 1, n) + 1 end";
        let (deciding, returning) = parts(two, seen::INT).expect("it returns early");
        assert_eq!((deciding.len(), returning.len()), (2, 4));
    }

    #[test]
    fn a_test_of_parameters_tells_beforehand() {
        let of = |test: &str| {
            let function = format!(
                "(function() local c = 0 return function(n, m) c = c + 1 {test} then return c end
                return f(n - 1, m) + 1 end end)"
            );
            let proto = listing::compile(&format!("local f; f = {function}"));
            let proto = proto.protos[0].protos[0].clone();
            let mut snapshot = Snapshot::before_run(&proto);
            for pc in 0..proto.code.len() {
                if proto.code[pc].op().feedback() == perilune_bytecode::Feedback::Operands {
                    snapshot.cells[pc] = seen::INT;
                }
            }
            let before = EarlyPart::of(&proto, &snapshot)?.beforehand?;
            Some((before.test.index(), before.returns_by_jump))
        };
        assert_eq!(of("if n < 2"), Some((3, false)));
        assert_eq!(of("if n ~= 2 then return f(m, n) + 1 end if m < 2"), None);
        assert_eq!(of("if m < n"), Some((3, false)));
        assert_eq!(of("if m"), Some((3, false)));
        // a variable, a parameter that is assigned, and a call before the test
        assert_eq!(of("if c < 2"), None);
        assert_eq!(of("n = n - 1 if n < 2"), None);
        assert_eq!(of("f(n) if n < 2"), None);
    }

    #[test]
    fn what_has_effects_or_metamethods_comes_later() {
        let fib = "function(n) if n < 2 then return n end return f(n - 1) + f(n - 2) end";
        assert_eq!(parts(fib, seen::OTHER), None);
        let after_call = "function(n) f(n) if n < 2 then return n end return f(n - 1) end";
        assert_eq!(parts(after_call, seen::INT), None);
        assert_eq!(parts("function(n) return n + 1 end", seen::INT), None);
        let varies = "function(n, ...) if n < 2 then return n end return f(n - 1, ...) + 1 end";
        assert_eq!(parts(varies, seen::INT), None);
        let shared = "function(n) if n < 2 then return n end return function() return n end end";
        assert_eq!(parts(shared, seen::INT), None);
    }
}
