//! The known tags of registers before each instruction, from constants, from feedback that the code
//! speculates on, and from control flow.
//!
//! Where feedback has seen operands of one kind only, code is made for that kind, and deoptimized
//! when another comes ([`Speculation`]). So what follows such an instruction may rely on the tags
//! of its operands and of its result ([`facts`]).

use perilune_bytecode::effects::effects;
use perilune_bytecode::{Constant, Feedback, Instr, Op, Proto};
use perilune_runtime::value::Tag;

use crate::analysis::flow::Flow;
use crate::feedback::snapshot::{CalleeSeen, Snapshot};

pub(crate) use perilune_bytecode::feedback::{access, operands as seen};

/// What an operator's operands are speculated to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Speculation {
    /// Integers, and so is the result.
    Int,
    /// Floats, and so is the result.
    Float,
    /// Numbers of both kinds; the result is a float. Two integers only where that makes no
    /// difference.
    Number,
    /// Nothing: whatever comes is handled.
    Any,
}

impl Speculation {
    /// For an instruction whose feedback is `seen`.
    pub(crate) fn of(op: Op, seen: u32) -> Speculation {
        use Op::*;
        let seen = seen & seen::ALL;
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

    /// The tag of all register operands, if it is one.
    fn operands(self) -> Option<Tag> {
        match self {
            Speculation::Int => Some(Tag::INTEGER),
            Speculation::Float => Some(Tag::FLOAT),
            Speculation::Number | Speculation::Any => None,
        }
    }

    /// The tag of the result.
    pub(crate) fn result(self) -> Option<Tag> {
        match self {
            Speculation::Int => Some(Tag::INTEGER),
            Speculation::Float | Speculation::Number => Some(Tag::FLOAT),
            Speculation::Any => None,
        }
    }
}

/// What the code of an instruction speculates on, and what follows from that. The analysis takes
/// it for granted after the instruction, and the translation emits exactly these guards before it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Facts {
    /// Registers and the tags that they are guarded to have. The frame is deoptimized where one
    /// has another.
    pub(crate) guards: Vec<(usize, Tag)>,
    /// The tag of the result in register A. The code that computes it has no other result: what
    /// else it meets deoptimizes the frame.
    pub(crate) result: Option<Tag>,
}

/// What the instruction at `pc` speculates on. FORPREP guards what it has prepared instead, by
/// [`speculation`].
pub(crate) fn facts(snapshot: &Snapshot, pc: usize, i: Instr) -> Facts {
    use Op::*;
    let mut facts = Facts::default();
    let op = i.op();
    if op == ForPrep {
        return facts;
    }
    if let Some(object) = object_of(i).filter(|_| is_table(snapshot, pc, i)) {
        facts.guards.push((object, Tag::TABLE));
    }
    if matches!(op, GetTable | SetTable | SetTableK) && keys_are_integers(snapshot, pc) {
        facts.guards.push((if op == GetTable { i.c() } else { i.b() }, Tag::INTEGER));
    }
    if matches!(op, GetTable | GetI) {
        facts.result = element_tag(snapshot, pc);
    }
    let operands = speculation(snapshot, pc, i);
    let e = effects(i);
    if let Some(tag) = operands.operands() {
        for r in e.reads.iter().flat_map(|&(from, count)| from..from + count) {
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

/// Not known.
pub(crate) const UNKNOWN: u8 = 0xFF;

/// A tag per register, or [`UNKNOWN`].
pub(crate) type Tags = Box<[u8]>;

/// Registers, a bit for each.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Set([u64; 4]);

impl Set {
    pub(crate) fn has(&self, r: usize) -> bool {
        self.0[r / 64] >> (r % 64) & 1 != 0
    }

    fn add(&mut self, from: usize, count: usize) {
        for r in from..(from + count).min(256) {
            self.0[r / 64] |= 1 << (r % 64);
        }
    }

    fn remove(&mut self, from: usize, count: usize) {
        for r in from..(from + count).min(256) {
            self.0[r / 64] &= !(1 << (r % 64));
        }
    }

    fn join(&mut self, other: &Set) {
        for (a, b) in self.0.iter_mut().zip(other.0) {
            *a |= b;
        }
    }
}

/// What is known at the instructions where control flow meets.
pub(crate) struct Types {
    /// By pc; none where nothing meets.
    at: Box<[Option<Tags>]>,
    /// Registers that are read before they are written, by pc.
    live: Box<[Set]>,
}

impl Types {
    /// Of a function entered at `entry`.
    pub(crate) fn new(proto: &Proto, snapshot: &Snapshot, flow: &Flow, entry: usize) -> Types {
        let n = proto.code.len();
        let mut types = Types { at: vec![None; n].into(), live: vec![Set::default(); n].into() };
        let size = Types::size(proto);
        types.find_live(proto, flow);
        types.at[entry] = Some(types.at_entry(snapshot, flow, entry, size));
        let mut todo = vec![entry];
        while let Some(leader) = todo.pop() {
            let mut tags = types.at[leader].clone().expect("it was reached");
            let mut pc = leader;
            loop {
                let (next, jump) = flow.successors(proto, pc);
                let before = jump.is_some().then(|| tags.clone());
                if let (Some(to), Some(mut tags)) = (jump, before) {
                    step(proto, snapshot, flow, pc, true, &mut tags);
                    types.merge(to, &tags, &mut todo);
                }
                let Some(to) = next else { break };
                step(proto, snapshot, flow, pc, false, &mut tags);
                if flow.leader[to] {
                    types.merge(to, &tags, &mut todo);
                    break;
                }
                pc = to;
            }
        }
        types
    }

    /// What is known at the entry: of a loop, the tags there when it was found to be hot. They are
    /// looked at before.
    fn at_entry(&self, snapshot: &Snapshot, flow: &Flow, entry: usize, size: usize) -> Tags {
        let mut tags: Tags = vec![UNKNOWN; size].into();
        for (r, &tag) in snapshot.entry_tags.iter().enumerate() {
            if self.is_live(entry, r) && !flow.captured[r] {
                tags[r] = tag;
            }
        }
        tags
    }

    /// Registers that are looked at: those of the frame and those that calls use above.
    pub(crate) fn size(proto: &Proto) -> usize {
        (usize::from(proto.max_stack) + 8).min(256)
    }

    /// The tags at an instruction where control flow meets.
    pub(crate) fn at(&self, pc: usize) -> &Tags {
        self.at[pc].as_ref().expect("control flow gets there")
    }

    /// May register `r` be read from `pc` on?
    pub(crate) fn is_live(&self, pc: usize, r: usize) -> bool {
        self.live[pc].has(r)
    }

    fn merge(&mut self, to: usize, tags: &Tags, todo: &mut Vec<usize>) {
        match &mut self.at[to] {
            Some(known) => {
                let mut changed = false;
                for (k, t) in known.iter_mut().zip(tags) {
                    if *k != UNKNOWN && k != t {
                        *k = UNKNOWN;
                        changed = true;
                    }
                }
                if changed {
                    todo.push(to);
                }
            }
            none => {
                *none = Some(tags.clone());
                todo.push(to);
            }
        }
    }

    fn find_live(&mut self, proto: &Proto, flow: &Flow) {
        let mut changed = true;
        while changed {
            changed = false;
            for pc in (0..proto.code.len()).rev() {
                if !flow.reached[pc] {
                    continue;
                }
                let (next, jump) = flow.successors(proto, pc);
                let mut live = Set::default();
                for to in [next, jump].into_iter().flatten() {
                    live.join(&self.live[to]);
                }
                let i = proto.code[pc];
                let e = effects(i);
                for (from, count) in e.writes {
                    live.remove(from, count);
                }
                for (from, count) in e.reads {
                    live.add(from, count);
                }
                let open = matches!(i.op(), Op::Call | Op::TailCall | Op::Return | Op::SetList);
                if open && i.b() == 0 {
                    live.add(i.a(), 256 - i.a());
                }
                if live != self.live[pc] {
                    self.live[pc] = live;
                    changed = true;
                }
            }
        }
    }
}

/// Computes the tags after the instruction at `pc`, in sequence or (`jumps`) where it jumps to.
pub(crate) fn step(
    proto: &Proto,
    snapshot: &Snapshot,
    flow: &Flow,
    pc: usize,
    jumps: bool,
    tags: &mut Tags,
) {
    use Op::*;
    let i = proto.code[pc];
    let op = i.op();
    let (a, b) = (i.a(), i.b());
    let facts = facts(snapshot, pc, i);
    let e = effects(i);
    for &(r, tag) in &facts.guards {
        tags[r] = tag.0;
    }
    let copied = if matches!(op, Move | SelfK | TestSet) { tags[b] } else { UNKNOWN };
    if let Some(from) = e.releases {
        tags[from..].fill(UNKNOWN);
    }
    for (from, count) in e.writes {
        let end = (from + count).min(tags.len());
        tags[from.min(end)..end].fill(UNKNOWN);
    }
    match op {
        Move => tags[a] = copied,
        SelfK => tags[a + 2] = copied,
        TestSet if jumps => tags[a] = copied,
        LoadI => tags[a] = Tag::INTEGER.0,
        LoadF => tags[a] = Tag::FLOAT.0,
        LoadK => tags[a] = constant_tag(&proto.constants[i.bx()]),
        LoadKX => tags[a] = constant_tag(&proto.constants[proto.code[pc + 1].ax_value()]),
        LoadFalse | LFalseSkip => tags[a] = Tag::FALSE.0,
        LoadTrue => tags[a] = Tag::TRUE.0,
        LoadNil => tags[a..=a + b].fill(Tag::NIL.0),
        NewTable => tags[a] = Tag::TABLE.0,
        Closure => tags[a] = Tag::FUNCTION.0,
        ForPrep => {
            let result = speculation(snapshot, pc, i).result().filter(|_| !jumps);
            tags[a..a + 4].fill(result.map_or(UNKNOWN, |tag| tag.0));
        }
        ForLoop if jumps => {
            let tag = match tags[a] {
                t if t == Tag::INTEGER.0 || t == Tag::FLOAT.0 => t,
                _ => UNKNOWN,
            };
            tags[a] = tag;
            tags[a + 3] = tag;
            if tag != tags[a + 1] {
                tags[a + 1] = UNKNOWN;
            }
        }
        TForPrep | TForCall | TForLoop => tags[a + 2..a + 4].fill(UNKNOWN),
        _ => {
            if let Some(tag) = facts.result {
                tags[a] = tag.0;
            }
        }
    }
    for (r, tag) in tags.iter_mut().enumerate() {
        if flow.captured[r] {
            *tag = UNKNOWN;
        }
    }
}

/// Was the instruction at `pc` never executed, as far as feedback tells, and is it to be left to
/// the interpreter then?
pub(crate) fn is_cold(snapshot: &Snapshot, pc: usize, i: Instr) -> bool {
    use Op::*;
    if !snapshot.prunes {
        return false;
    }
    let cell = snapshot.cells[pc];
    match i.op() {
        Call => snapshot.callees[cell as usize] == CalleeSeen::Nothing,
        GetField | SelfK | SetField | SetFieldK => {
            let field = &snapshot.fields[cell as usize];
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

/// What the operands of the operator at `pc` are speculated to be.
pub(crate) fn speculation(snapshot: &Snapshot, pc: usize, i: Instr) -> Speculation {
    if snapshot.general { Speculation::Any } else { Speculation::of(i.op(), snapshot.cells[pc]) }
}

/// The register of the table that an access is to.
fn object_of(i: Instr) -> Option<usize> {
    use Op::*;
    match i.op() {
        GetTable | GetI | GetField | SelfK => Some(i.b()),
        SetTable | SetTableK | SetI | SetIK | SetField | SetFieldK => Some(i.a()),
        _ => None,
    }
}

/// Does the access at `pc` take its object for a table?
fn is_table(snapshot: &Snapshot, pc: usize, i: Instr) -> bool {
    if snapshot.general {
        return false;
    }
    match i.op().feedback() {
        Feedback::Field => {
            let paths = &snapshot.fields[snapshot.cells[pc] as usize].paths;
            !paths.is_empty() && paths.iter().all(|p| p.shape().is_some())
        }
        Feedback::Access => {
            let seen = snapshot.cells[pc] & access::ALL;
            seen != 0 && seen & access::NO_TABLE == 0
        }
        _ => false,
    }
}

/// Does the access at `pc` take its key for an integer?
fn keys_are_integers(snapshot: &Snapshot, pc: usize) -> bool {
    let seen = snapshot.cells[pc];
    !snapshot.general
        && seen & access::ARRAY != 0
        && seen & (access::STRING | access::OTHER | access::NO_TABLE) == 0
}

/// Returns the tag of the elements that the load at `pc` speculates on, for arrays of numbers.
pub(crate) fn element_tag(snapshot: &Snapshot, pc: usize) -> Option<Tag> {
    match snapshot.cells[pc] & access::ALL {
        _ if snapshot.general => None,
        s if s == access::ARRAY | access::INTS => Some(Tag::INTEGER),
        s if s == access::ARRAY | access::FLOATS => Some(Tag::FLOAT),
        _ => None,
    }
}

fn constant_tag(k: &Constant) -> u8 {
    match k {
        Constant::Nil => Tag::NIL,
        Constant::Bool(b) => {
            if *b {
                Tag::TRUE
            } else {
                Tag::FALSE
            }
        }
        Constant::Integer(_) => Tag::INTEGER,
        Constant::Float(_) => Tag::FLOAT,
        Constant::Str(_) => Tag::STRING,
    }
    .0
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn proto(source: &str) -> Arc<Proto> {
        let chunk = perilune_bytecode::compile_source(source.as_bytes(), b"=test", 0);
        chunk.unwrap_or_else(|_| panic!("it compiles"))
    }

    fn at(proto: &Proto, op: Op) -> usize {
        proto.code.iter().position(|i| i.op() == op).expect("it is there")
    }

    /// The facts of the first instruction `op` when its cell holds `seen`.
    fn facts_of(source: &str, op: Op, seen: u32) -> (Vec<(usize, Tag)>, Option<Tag>) {
        let p = proto(source);
        let mut snapshot = Snapshot::before_run(&p);
        let pc = at(&p, op);
        snapshot.cells[pc] = seen;
        let found = facts(&snapshot, pc, p.code[pc]);
        snapshot.general = true;
        assert_eq!(facts(&snapshot, pc, p.code[pc]), Facts::default(), "general code has none");
        (found.guards, found.result)
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
        // a division of integers is one of floats, and is not speculated on
        let div = "local a, b = ... return a / b";
        assert_eq!(facts_of(div, Op::Div, seen::INT), (vec![], None));
        assert_eq!(facts_of(div, Op::Div, seen::FLOAT), (both(float), Some(float)));
        // the result of a comparison is no value
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
        assert_eq!(facts_of(get, Op::GetTable, access::STRING), (vec![(0, table)], None));
        assert_eq!(facts_of(get, Op::GetTable, ints | access::NO_TABLE), (vec![], None));
        let set = "local t, k, v = ... t[k] = v";
        assert_eq!(facts_of(set, Op::SetTable, ints), (vec![(0, table), (1, int)], None));
        let constant = "local t = ... return t[1]";
        assert_eq!(facts_of(constant, Op::GetI, ints), (vec![(0, table)], Some(int)));
    }

    /// The tags at the head of the loop of a program whose additions have seen `seen`.
    fn at_loop(source: &str, seen: u32) -> Vec<u8> {
        let p = proto(source);
        let mut snapshot = Snapshot::before_run(&p);
        for (pc, i) in p.code.iter().enumerate() {
            if matches!(i.op(), Op::Add | Op::AddI | Op::ForPrep) {
                snapshot.cells[pc] = seen;
            }
        }
        let flow = Flow::new(&p, &snapshot, 0);
        let types = Types::new(&p, &snapshot, &flow, 0);
        let head = flow.is_loop.iter().position(|&is_loop| is_loop).expect("there is a loop");
        types.at(head)[..usize::from(p.max_stack)].to_vec()
    }

    #[test]
    fn tags_meet_where_control_flow_does() {
        let (int, float) = (Tag::INTEGER.0, Tag::FLOAT.0);
        let counting = "local n = 0 for i = 1, 10 do n = n + i end return n";
        assert_eq!(at_loop(counting, seen::INT)[..5], [int; 5]);
        assert_eq!(at_loop(counting, 0)[0], UNKNOWN, "the sum may be anything");
        let mixed = "local n, f = 0, 0.5 while n do f = f + n n = n + 1 end return f";
        let tags = at_loop(mixed, seen::INT);
        assert_eq!(tags[0], int, "{tags:?}");
        assert_eq!(tags[1], UNKNOWN, "a float comes in, an integer comes round: {tags:?}");
        assert_eq!(at_loop(mixed, seen::FLOAT)[1], float);
        let captured =
            "local n = 0 for i = 1, 10 do n = n + 1 local f = function() return n end end";
        assert_eq!(at_loop(captured, seen::INT)[0], UNKNOWN, "a closure may change it");
    }

    #[test]
    fn registers_are_live_until_they_are_last_read() {
        let p = proto("local a, b = ... local c = a + 1 return c + c");
        let snapshot = Snapshot::before_run(&p);
        let flow = Flow::new(&p, &snapshot, 0);
        let types = Types::new(&p, &snapshot, &flow, 0);
        let add = at(&p, Op::AddI);
        assert!(types.is_live(add, 0) && !types.is_live(add, 1) && !types.is_live(add, 2));
        assert!(types.is_live(add + 1, 2) && !types.is_live(add + 1, 0));
    }
}
