//! The assumptions that the code of an instruction makes about its operands, and the facts that
//! follow from them: one table for the analyses and the compilers.
//!
//! If feedback has recorded operands of only one kind, code is compiled for that kind, and
//! deoptimizes for others ([`Speculation`]). Code after such an instruction may therefore rely on
//! the tags of its operands and of its result ([`facts`]).

use cranelift_codegen::entity::EntityRef;
use perilune_bytecode::effects::effects;
use perilune_bytecode::feedback::{access, operands as seen};
use perilune_bytecode::{Feedback, Instr, Op};
use perilune_runtime::value::Tag;

use crate::entity::{Pc, Reg, RegisterOperands};
use crate::feedback::snapshot::{CalleeSeen, FieldSnapshot, Snapshot};

/// The kind of operands that the code of an operator speculates on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Speculation {
    /// Integers; the result is an integer too.
    Int,
    /// Floats; the result is a float too.
    Float,
    /// Numbers of both kinds; the result is a float. Two integers are allowed only if that makes no
    /// difference.
    Number,
    /// No speculation: the code handles all operands.
    Any,
}

impl Speculation {
    /// Returns the speculation of an instruction whose feedback is `seen`.
    pub(crate) fn of(op: Op, seen: u32) -> Speculation {
        use Op::*;
        let seen = seen & seen::ALL;
        // a loop over integers may have any number as its limit
        let seen = if op == ForPrep { seen & !seen::MIXED } else { seen };
        let (int, float, number) = match op {
            AddI | SubI | AddK | SubK | MulK | KAdd | KSub | KMul | Add | Sub | Mul | ModK
            | Mod | IDivK | IDiv => (true, true, true),
            Unm | Lt | Le | LtI | LeI | GtI | GeI | ForPrep => (true, true, false),
            DivK | KDiv | Div | PowK | Pow => (false, true, true),
            BAndK | BOrK | BXorK | ShrI | ShlI | BAnd | BOr | BXor | Shl | Shr | BNot => {
                (true, false, false)
            }
            _ => return Speculation::Any,
        };
        match seen {
            seen::INT if int => Speculation::Int,
            seen::FLOAT if float => Speculation::Float,
            0 => Speculation::Any,
            s if number && s & !(seen::FLOAT | seen::MIXED) == 0 => Speculation::Number,
            _ => Speculation::Any,
        }
    }

    /// Returns the tag of the register operands, if all of them have the same tag.
    fn operands(self) -> Option<Tag> {
        match self {
            Speculation::Int => Some(Tag::INTEGER),
            Speculation::Float => Some(Tag::FLOAT),
            Speculation::Number | Speculation::Any => None,
        }
    }

    /// Returns the tag of the result, if it is known.
    pub(crate) fn result(self) -> Option<Tag> {
        match self {
            Speculation::Int => Some(Tag::INTEGER),
            Speculation::Float | Speculation::Number => Some(Tag::FLOAT),
            Speculation::Any => None,
        }
    }
}

/// The speculations of an instruction's code, and the facts that follow. The analysis relies on
/// them after the instruction, and the translation emits exactly these guards before it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Facts {
    /// Registers and the tags that they are guarded to have. The frame is deoptimized if one has
    /// another tag.
    pub(crate) guards: Vec<(Reg, Tag)>,
    /// The tag of the result in register A. The code has no other results: it deoptimizes the frame
    /// instead.
    pub(crate) result: Option<Tag>,
}

/// Returns the speculations of the instruction at `pc`. FORPREP instead guards the values that it
/// has prepared, according to [`speculation`].
pub(crate) fn facts(snapshot: &Snapshot, pc: Pc, i: Instr) -> Facts {
    use Op::*;
    let mut facts = Facts::default();
    let op = i.op();
    if op == ForPrep {
        return facts;
    }
    if let Some(object) = object_of(i).filter(|_| is_table(snapshot, pc, i)) {
        facts.guards.push((object, Tag::TABLE));
    }
    // code that inlines a metamethod accepts all keys, and the result is that of the metamethod
    let is_intercepted = snapshot.handlers.contains_key(&pc.as_u32());
    if matches!(op, GetTable | SetTable | SetTableK)
        && !is_intercepted
        && keys_are_integers(snapshot, pc)
    {
        facts.guards.push((if op == GetTable { i.rc() } else { i.rb() }, Tag::INTEGER));
    }
    let has_failed = snapshot.failed.contains(&pc.as_u32());
    if matches!(op, GetTable | GetI) && !is_intercepted && !has_failed {
        facts.result = element_tag(snapshot, pc);
    }
    let operands = speculation(snapshot, pc, i);
    let e = effects(i);
    if let Some(tag) = operands.operands() {
        for r in e.reads.iter().flat_map(|&(from, count)| Reg::new(from).range(count)) {
            if !facts.guards.contains(&(r, tag)) {
                facts.guards.push((r, tag));
            }
        }
    }
    if e.writes[0] == (i.a(), 1) {
        facts.result = facts.result.or(operands.result());
    }
    facts
}

/// Returns whether the instruction at `pc` was never executed, according to feedback, and is
/// therefore left to the interpreter.
pub(crate) fn is_cold(snapshot: &Snapshot, pc: Pc, i: Instr) -> bool {
    use Op::*;
    if !snapshot.prunes {
        return false;
    }
    let cell = snapshot.cell(pc);
    match i.op() {
        Call | TailCall => snapshot.callee(pc) == CalleeSeen::Nothing,
        GetField | SelfK | SetField | SetFieldK => {
            let field = snapshot.field(pc);
            !field.seen && field.paths.is_empty()
        }
        GetTable | GetI | SetTable | SetTableK | SetI | SetIK => cell & access::ALL == 0,
        AddI | SubI | AddK | SubK | MulK | KAdd | KSub | KMul | Add | Sub | Mul | ModK | Mod
        | IDivK | IDiv | Unm | Lt | Le | LtI | LeI | GtI | GeI | ForPrep | DivK | KDiv | Div
        | PowK | Pow | BAndK | BOrK | BXorK | ShrI | ShlI | BAnd | BOr | BXor | Shl | Shr
        | BNot => cell & seen::ALL == 0,
        _ => false,
    }
}

/// Returns the kind of operands that the operator at `pc` speculates on.
pub(crate) fn speculation(snapshot: &Snapshot, pc: Pc, i: Instr) -> Speculation {
    if snapshot.general { Speculation::Any } else { Speculation::of(i.op(), snapshot.cell(pc)) }
}

/// Returns the register with the table of an access.
fn object_of(i: Instr) -> Option<Reg> {
    use Op::*;
    match i.op() {
        GetTable | GetI | GetField | SelfK => Some(i.rb()),
        SetTable | SetTableK | SetI | SetIK | SetField | SetFieldK => Some(i.ra()),
        _ => None,
    }
}

/// Returns whether the access at `pc` speculates that its object is a table.
fn is_table(snapshot: &Snapshot, pc: Pc, i: Instr) -> bool {
    if snapshot.general {
        return false;
    }
    match i.op().feedback() {
        Feedback::Field => {
            let FieldSnapshot { paths, dictionaries, megamorphic, .. } = snapshot.field(pc);
            (*dictionaries || *megamorphic || !paths.is_empty())
                && paths.iter().all(|p| p.shape().is_some())
        }
        Feedback::Access => {
            let seen = snapshot.cell(pc) & access::ALL;
            seen != 0 && seen & access::NO_TABLE == 0
        }
        _ => false,
    }
}

/// Returns whether the access at `pc` speculates that its key is an integer.
fn keys_are_integers(snapshot: &Snapshot, pc: Pc) -> bool {
    let seen = snapshot.cell(pc);
    !snapshot.general
        && seen & access::ARRAY != 0
        && seen & (access::STRING | access::OTHER | access::INTEGRAL | access::NO_TABLE) == 0
}

/// Returns the feedback of an access without the part about keys that stand for integers.
pub(crate) fn elements_seen(cell: u32) -> u32 {
    cell & access::ALL & !(access::ARRAY | access::INTEGRAL)
}

/// Returns the element tag that the load at `pc` speculates on, if it is that of an array of
/// numbers.
pub(crate) fn element_tag(snapshot: &Snapshot, pc: Pc) -> Option<Tag> {
    match elements_seen(snapshot.cell(pc)) {
        _ if snapshot.general => None,
        access::INTS => Some(Tag::INTEGER),
        access::FLOATS => Some(Tag::FLOAT),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use perilune_bytecode::Proto;

    use super::*;

    fn proto(source: &str) -> Arc<Proto> {
        let chunk = perilune_bytecode::compile_source(source.as_bytes(), b"=test", 0);
        chunk.unwrap_or_else(|_| panic!("it compiles"))
    }

    fn at(proto: &Proto, op: Op) -> Pc {
        Pc::all(proto).find(|pc| pc.instr(proto).op() == op).expect("it is there")
    }

    /// Returns the facts of the first instruction `op` if its cell holds `seen`.
    fn facts_of(source: &str, op: Op, seen: u32) -> (Vec<(usize, Tag)>, Option<Tag>) {
        let p = proto(source);
        let mut snapshot = Snapshot::before_run(&p);
        let pc = at(&p, op);
        snapshot.cells[pc.index()] = seen;
        let found = facts(&snapshot, pc, pc.instr(&p));
        snapshot.general = true;
        assert_eq!(facts(&snapshot, pc, pc.instr(&p)), Facts::default(), "general code has none");
        let guards = found.guards.iter().map(|&(r, tag)| (r.index(), tag));
        (guards.collect(), found.result)
    }

    #[test]
    fn operators_guard_their_register_operands() {
        let (int, float) = (Tag::INTEGER, Tag::FLOAT);
        let add = "local a, b = ... return a + b";
        let both = |tag| vec![(0, tag), (1, tag)];
        assert_eq!(facts_of(add, Op::Add, seen::INT), (both(int), Some(int)));
        assert_eq!(facts_of(add, Op::Add, seen::FLOAT), (both(float), Some(float)));
        assert_eq!(facts_of(add, Op::Add, seen::MIXED), (vec![], Some(float)));
        assert_eq!(facts_of(add, Op::Add, seen::INT | seen::FLOAT), (vec![], None));
        assert_eq!(facts_of(add, Op::Add, 0), (vec![], None));
        let twice = "local a, b = ... return b + b";
        assert_eq!(facts_of(twice, Op::Add, seen::INT), (vec![(1, int)], Some(int)));
        let constant = "local a, b = ... return b + 1";
        assert_eq!(facts_of(constant, Op::AddI, seen::INT), (vec![(1, int)], Some(int)));
        // a division of integers gives a float, and is not speculated on
        let div = "local a, b = ... return a / b";
        assert_eq!(facts_of(div, Op::Div, seen::INT), (vec![], None));
        assert_eq!(facts_of(div, Op::Div, seen::FLOAT), (both(float), Some(float)));
        // the result of a comparison is not a Lua value
        let less = "local a, b = ... return a < b";
        assert_eq!(facts_of(less, Op::Lt, seen::INT), (both(int), None));
    }

    #[test]
    fn accesses_guard_table_and_key() {
        let (int, table) = (Tag::INTEGER, Tag::TABLE);
        let get = "local t, k = ... return t[k]";
        let ints = access::ARRAY | access::INTS;
        let both = vec![(0, table), (1, int)];
        assert_eq!(facts_of(get, Op::GetTable, ints), (both.clone(), Some(int)));
        assert_eq!(
            facts_of(get, Op::GetTable, access::ARRAY | access::FLOATS),
            (both.clone(), Some(Tag::FLOAT))
        );
        assert_eq!(facts_of(get, Op::GetTable, ints | access::OUTSIDE), (both, None));
        let floats = access::INTEGRAL | access::FLOATS;
        assert_eq!(facts_of(get, Op::GetTable, floats), (vec![(0, table)], Some(Tag::FLOAT)));
        assert_eq!(facts_of(get, Op::GetTable, access::STRING), (vec![(0, table)], None));
        assert_eq!(facts_of(get, Op::GetTable, ints | access::NO_TABLE), (vec![], None));
        let set = "local t, k, v = ... t[k] = v";
        assert_eq!(facts_of(set, Op::SetTable, ints), (vec![(0, table), (1, int)], None));
        let constant = "local t = ... return t[1]";
        assert_eq!(facts_of(constant, Op::GetI, ints), (vec![(0, table)], Some(int)));
    }
}
